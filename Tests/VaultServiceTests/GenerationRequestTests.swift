import SecretVault
import TestSupport
import Testing

@testable import VaultService

/// Undo and merge in a vault that this process has opened.
struct GenerationRequestTests {
    @Test("undoing changes nothing until the plan is sent back")
    func undo() throws {
        let bound = try BoundVault()
        let own = try bound.own()
        _ = try own.outcome(.add(BoundVault.entry("a", nil)))
        let before = try bound.folder.bytes(of: "vault")
        guard case .undone(let plan, false, _) = try own.send(.undo(own.place, nil)) else {
            Issue.record("no plan")
            return
        }
        #expect(plan.map(\.action) == [.removed])
        #expect(try own.failure(.undo(own.place, [])) == .busy)
        #expect(try bound.folder.bytes(of: "vault") == before)
        guard case .undone = try own.send(.undo(own.place, plan)) else {
            Issue.record("not undone")
            return
        }
        #expect(own.entries.isEmpty)
    }

    @Test("a file with a different key is merged only if this process has opened it")
    func otherKey() throws {
        let bound = try BoundVault()
        let path = bound.folder.file("copy")
        try bound.folder.write(bound.folder.bytes(of: "vault"), to: "copy")
        try setMode(0o600, of: path)
        let other = OwnVault(
            try bound.unlocked(at: path), at: path, deviceKeys: bound.store("there"))
        _ = try other.outcome(.add(BoundVault.entry("b", nil)))
        try bound.unlocked().update { changes throws(VaultError) in try changes.rekey() }
        let own = try bound.own()
        let before = try bound.folder.bytes(of: "vault")
        let file = MergeRequest(try bound.folder.bytes(of: "copy"))
        guard case .otherKey = try own.send(.merge(own.place, file)) else {
            Issue.record("the file's key is not the vault's")
            return
        }
        own.mergeFiles = MergeFiles(
            copy: try own.vault.copy(
                at: path, passphrase: EditedVault.passphrase, among: []))
        guard case .merged(let outline, _) = try own.send(.merge(own.place, MergeRequest([])))
        else {
            Issue.record("no plan")
            return
        }
        #expect(outline.changes.map(\.action) == [.added] && outline.keys == .older)
        #expect(try bound.folder.bytes(of: "vault") == before)
        _ = try own.send(.merge(own.place, MergeRequest([], seen: outline.changes)))
        #expect(own.entries.map(\.account) == ["b"])
    }
}
