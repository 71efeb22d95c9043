import TestSupport
import Testing

@testable import SecretVault

/// Vaults in a repository that git merges.
struct GitMergeTests {
    @Test("git's conflict markers are recognised, wherever the conflict begins")
    func markers() throws {
        let vault = try TestVault()
        let text = String(decoding: try vault.bytes(), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for start in 0..<lines.count - 1 {
            var conflict = Array(lines[..<start])
            for mark: Substring in ["<<<<<<< HEAD", "======="] {
                conflict.append(mark)
                conflict += lines[start...].dropLast()
            }
            conflict += [">>>>>>> 0123456", ""]
            try vault.put(Array(conflict.joined(separator: "\n").utf8))
            #expect(throws: VaultError.conflictMarkers, "\(start)") { try vault.unlock() }
        }
        // A text with such markers is not a vault, and a vault with half a conflict is damaged.
        try vault.put(Array("notes\n<<<<<<< HEAD\n>>>>>>> 0123456\n".utf8))
        #expect(throws: VaultError.notAVault) { try vault.unlock() }
        try vault.put(Array((text + "<<<<<<< HEAD\n").utf8))
        #expect(throws: VaultError.damaged(.checksum)) { try vault.unlock() }
    }

    @Test("a merge into an exact copy of the vault changes that file and no other")
    func into() throws {
        let copies = try MergeTests.Copies()
        try copies.there(MergeTests().rename(copies.ids[0], "there", 100))
        let bytes = try copies.vault.bytes()
        try copies.vault.put(bytes, as: "ours")
        let others = ["ours.new", "ours.previous.new", "ours.displaced"]
        let other = try TestVault().bytes()
        for name in others { try copies.vault.put(other, as: name) }
        let path = copies.vault.folder.file("ours")
        let (open, copy, plan) = try copies.plan()
        func merge() throws(VaultError) {
            try open.merge(
                plan, confirmed: [], into: path, comparing: MergeTests.order,
                now: MergeTests.now)
        }
        try merge()
        #expect(try copies.vault.bytes() == bytes)
        for name in others { #expect(try copies.vault.folder.bytes(of: name) == other, "\(name)") }
        let merged = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        #expect(merged.entries[0].issuer == "there")
        #expect(merged.state.history.includes(copy.state.history))
        #expect(merged.state.history.includes(open.state.history))
        #expect(throws: VaultError.changedMeanwhile) { try merge() }
        // The vault has changed since the copy was made.
        try copies.vault.put(bytes, as: "ours")
        try copies.here(MergeTests().rename(copies.ids[2], "here", 100))
        #expect(throws: VaultError.changedMeanwhile) { try merge() }
        #expect(try copies.vault.folder.bytes(of: "ours") == bytes)
    }

    @Test("a merge into the vault itself is refused, as the vault would be neither locked nor kept")
    func intoItself() throws {
        let copies = try MergeTests.Copies()
        try copies.there(MergeTests().rename(copies.ids[0], "there", 100))
        let bytes = try copies.vault.bytes()
        let (open, _, plan) = try copies.plan()
        #expect(throws: VaultError.alreadyExists) {
            try open.merge(
                plan, confirmed: [], into: copies.vault.path,
                comparing: MergeTests.order, now: MergeTests.now)
        }
        #expect(try copies.vault.bytes() == bytes)
    }

    @Test("a merge that wipes an entry is refused where older copies cannot be erased")
    func wiping() throws {
        let copies = try MergeTests.Copies()
        try copies.there { try $0.wipe(copies.ids[2], because: .revoked, now: TestVault.now) }
        let bytes = try copies.vault.bytes()
        try copies.vault.put(bytes, as: "ours")
        let (open, _, plan) = try copies.plan()
        #expect(plan.changes.map(\.action) == [.wiped])
        #expect(throws: VaultError.vanishedEntries) {
            try open.merge(
                plan, confirmed: [], into: copies.vault.folder.file("ours"),
                comparing: MergeTests.order, now: MergeTests.now)
        }
        #expect(try copies.vault.folder.bytes(of: "ours") == bytes)
    }
}
