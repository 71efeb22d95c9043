import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Files of a vault with a second name (a hard link), such as `cp -al` creates.
struct SecondNameTests {
    /// A change that erases the previous generation.
    enum Change: CaseIterable {
        case passphrase, rekey, slot, removal
    }

    private static let second = secret("another passphrase")

    private let vault: TestVault
    private let previous = TestVault.own("previous")

    init() throws {
        vault = try TestVault()
        try vault.unlock().update { changes throws(VaultError) in
            for name in ["first", "second"] {
                try changes.add(
                    .plainSecret(issuer: name, account: "", value: secret("x")),
                    accessControl: AccessControl(
                        presence: .perUnlock, onFailure: .wipe(after: .three)),
                    now: 0)
            }
        }
    }

    /// Gives each of these files a second name; returns their contents, by second name.
    private func link(_ names: [String]) throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for (place, name) in names.enumerated() {
            let second = "second-\(place)"
            try linkFile(vault.folder.file(name), to: vault.folder.file(second))
            contents[second] = try vault.folder.bytes(of: second)
        }
        return contents
    }

    private func inodes(_ names: some Sequence<String>) throws -> Set<VaultReport> {
        Set(
            try names.map {
                .keptUnderSecondName(inode: try inode(of: vault.folder.file($0)))
            })
    }

    private func expect(_ contents: [String: [UInt8]]) throws {
        for (name, bytes) in contents { #expect(try vault.folder.bytes(of: name) == bytes) }
    }

    private func add(_ name: String, to open: UnlockedVault) throws {
        try open.update { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: name, account: "", value: secret("y")), now: 0)
        }
    }

    @Test(
        "a change that erases older files is complete, and reports those that have a second name",
        arguments: Change.allCases, [["vault"], ["previous"], ["vault", "previous"]])
    func purging(change: Change, linked: [String]) throws {
        let cost = ScryptCost.lowest
        if change == .slot {
            try vault.unlock().change { try $0.addPassphrase(Self.second, cost: cost, now: 0) }
        }
        let contents = try link(linked.map { $0 == "previous" ? previous : $0 })
        let open = try vault.unlock()
        #expect(open.reports.isEmpty)
        try open.update { changes throws(VaultError) in
            let slots = changes.slots
            switch change {
            case .passphrase:
                try changes.changePassphrase(of: slots[0], to: Self.second, cost: cost, now: 0)
            case .rekey: try changes.rekey()
            case .slot: try changes.removeSlot(slots[1])
            case .removal: try changes.remove(changes.entries[0].id, purge: true)
            }
        }
        #expect(Set(open.saveReports) == (try inodes(contents.keys)))
        try expect(contents)
        // No other file is left, and the vault can still be opened and saved.
        let files = try vault.files().filter { contents[$0] == nil }
        #expect(files == TestVault.files.filter { $0 != previous })
        let passphrase = change == .passphrase ? Self.second : TestVault.passphrase
        let again = try Vault.unlock(at: vault.path, with: .passphrase(passphrase))
        let left = change == .removal ? ["second"] : ["first", "second"]
        #expect(again.entries.map(\.issuer) == left)
        try add("next", to: again)
        #expect(again.reports.isEmpty)
        try expect(contents)
    }

    @Test("a file with a second name is kept as the previous generation, without a report")
    func keeping() throws {
        let contents = try link(["vault", previous])
        let open = try vault.unlock()
        for name in ["a", "b", "c"] { try add(name, to: open) }
        #expect(open.reports.isEmpty)
        try expect(contents)
    }

    @Test(
        "a wipe after failures is complete, and the next unlock reports files with a second name",
        arguments: [["vault"], ["previous"], ["vault", "previous"]])
    func wiping(linked: [String]) throws {
        // The previous generation contains the entries as well.
        try add("kept", to: vault.unlock())
        let contents = try link(linked.map { $0 == "previous" ? previous : $0 })
        for _ in 1...3 {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: vault.path, with: .passphrase(secret("wrong")))
            }
        }
        try expect(contents)
        let open = try vault.unlock()
        #expect(open.entries.map { $0.tombstone != nil } == [true, true, false])
        let kept = open.reports.filter { report in
            if case .keptUnderSecondName = report { true } else { false }
        }
        #expect(Set(kept) == (try inodes(contents.keys)))
        // The report appears only once.
        let again = try vault.unlock()
        #expect(again.reports.count == 2)
        try add("next", to: again)
        #expect(try vault.files().filter { contents[$0] == nil } == TestVault.files)
        try expect(contents)
    }

    @Test("a malformed record of files with a second name is ignored")
    func record() throws {
        for text in ["", "notes", "watchword-linked 1\n-1\n12x\n\n"] {
            try vault.put(Array(text.utf8), as: TestVault.own("linked"))
            #expect(try vault.unlock().reports.isEmpty)
        }
        try vault.put(Array("watchword-linked 1\n7\n".utf8), as: TestVault.own("linked"))
        #expect(try vault.unlock().reports == [.keptUnderSecondName(inode: 7)])
    }

    @Test("erasing a whole vault reports which of its files have a second name")
    func erasing() throws {
        let contents = try link(["vault", previous])
        let reports = try Vault.purge(vault.path, in: Vault.identity(at: vault.path))
        #expect(Set(reports) == (try inodes(contents.keys)))
        try expect(contents)
        #expect(try !Vault.isTaken(vault.path))
    }
}
