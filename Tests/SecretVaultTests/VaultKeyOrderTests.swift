import TestSupport
import Testing

@testable import SecretVault

/// Tests of which of two keys of a vault counts as newer.
struct VaultKeyOrderTests {
    private static var rekey: MergeTests.Change {
        { changes throws(VaultError) in try changes.rekey() }
    }

    private func add(_ name: String) -> MergeTests.Change {
        { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: name, account: "", value: secret(name)), now: 100)
        }
    }

    @Test("a file with a newer key is not merged into a file with an older key, only vice versa")
    func refused() throws {
        let copies = try MergeTests.Copies()
        try copies.there(Self.rekey)
        try copies.there(add("there"))
        for name in ["here", "here again"] { try copies.here(add(name)) }
        let bytes = try copies.vault.bytes()
        #expect(throws: VaultError.copyHasNewerKey) { try copies.merge() }
        #expect(try copies.vault.bytes() == bytes)
        // The reverse case, with several rekeys.
        for _ in 1...2 {
            let (open, copy) = (try copies.unlockedCopy(), try copies.vault.unlock().asCopy)
            let plan = try open.planOfMerge(
                with: copy, comparing: MergeTests.order, now: MergeTests.now)
            #expect(plan.keys == .older && plan.changes.map(\.action) == [.added, .added])
            try copies.there(Self.rekey)
        }
        #expect(throws: VaultError.copyHasNewerKey) { try copies.merge() }
    }

    @Test("files that were rekeyed separately are merged, and neither key counts as newer")
    func separate() throws {
        let copies = try MergeTests.Copies()
        try copies.there(Self.rekey)
        try copies.here(Self.rekey)
        try copies.there(add("there"))
        #expect(try copies.merge().keys == .unknown)
        #expect(try copies.vault.unlock().entries.last?.issuer == "there")
    }

    @Test("a key that replaced one whose rekey the other file no longer shows is the newer one")
    func dropped() throws {
        let copies = try MergeTests.Copies()
        try copies.here(Self.rekey)
        try copies.vault.put(copies.vault.bytes(), as: "copy")
        let open = try copies.unlockedCopy()
        var state = open.state
        for _ in 1...512 { state = try state.next(after: nil) }
        try copies.vault.put(state.written(with: open.key), as: "copy")
        try copies.there(Self.rekey)
        #expect(throws: VaultError.copyHasNewerKey) { try copies.merge() }
    }

    @Test(
        "a file with a former key is reported, even after it was saved, until a rekey",
        arguments: [false, true])
    func reported(isFirst: Bool) throws {
        let vault = try TestVault()
        if !isFirst { try vault.unlock().change(Self.rekey) }
        let former = try vault.bytes()
        let generation = try vault.unlock().generation
        let open = try vault.unlock()
        try open.change(Self.rekey)
        try open.change(add("new"))
        let newer = try vault.bytes()
        #expect(try vault.unlock().reports.isEmpty)
        try vault.put(former)
        let reports = try vault.unlock().reports
        #expect(reports.contains(.formerKey))
        let older = VaultReport.olderFile(generation: generation, newest: generation + 2)
        #expect(reports.contains(older))
        try vault.unlock().change(add("old"))
        #expect(try vault.unlock().reports.contains(.formerKey))
        try vault.put(newer)
        #expect(try !vault.unlock().reports.contains(.formerKey))
        try vault.put(former)
        // The owner discards the changes that only the previous generation has.
        try removeFile(vault.folder.file(TestVault.own("previous")))
        try vault.unlock().change(Self.rekey)
        #expect(try vault.unlock().reports.isEmpty)
    }

    /// The file after `count` saves that change nothing.
    private func saved(_ bytes: [UInt8], _ count: Int) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        try TestVault.put(bytes, as: "vault", in: folder)
        let open = try Vault.unlock(
            at: folder.file("vault"), with: .passphrase(TestVault.passphrase))
        var state = open.state
        for _ in 0..<count { state = try state.next(after: nil) }
        return try state.written(with: open.key)
    }

    @Test("a former key is reported even if the history has dropped every save that was seen here")
    func full() throws {
        let vault = try TestVault()
        let former = try vault.bytes()
        try vault.unlock().change(Self.rekey)
        for name in ["a", "b"] { try vault.unlock().change(add(name)) }
        let own = try vault.bytes()
        try vault.put(saved(own, 520))
        #expect(try vault.unlock().reports.isEmpty)
        try vault.put(saved(former, 520))
        let previous = try vault.folder.bytes(of: TestVault.own("previous"))
        #expect(try vault.unlock().reports.contains(.formerKey))
        try vault.unlock().change(add("old"))
        #expect(try vault.unlock().reports.contains(.formerKey))
        #expect(try vault.folder.bytes(of: TestVault.own("previous")) == previous)
    }

    @Test(
        "a previous generation is kept if a file with a different key lacks it, but not otherwise",
        arguments: [false, true])
    func previous(isIncluded: Bool) throws {
        let vault = try TestVault()
        var bytes = try vault.bytes()
        for name in ["a", "b"] { try vault.unlock().change(add(name)) }
        if isIncluded { bytes = try vault.bytes() }
        let other = try TemporaryFolder()
        try TestVault.put(bytes, as: "vault", in: other)
        let open = try Vault.unlock(
            at: other.file("vault"), with: .passphrase(TestVault.passphrase))
        try open.change(Self.rekey)
        for name in ["c", "d"] { try open.change(add(name)) }
        let kept = TestVault.own("previous")
        let previous = try vault.folder.bytes(of: kept)
        try vault.put(other.bytes(of: "vault"))
        let report = VaultReport.unmergedPrevious(path: vault.folder.file(kept))
        #expect(try vault.unlock().reports.contains(report) == !isIncluded)
        for name in ["e", "f"] { try vault.unlock().change(add(name)) }
        #expect(try (vault.folder.bytes(of: kept) == previous) == !isIncluded)
        #expect(try vault.unlock().reports.contains(report) == !isIncluded)
    }

    @Test("a wipe without the key keeps the record of the newest key, and of the last save")
    func wiped() throws {
        let vault = try TestVault()
        let former = try vault.bytes()
        try vault.unlock().change(Self.rekey)
        let access = AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
        try vault.unlock().update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "a", account: "", value: secret("a")), accessControl: access,
                now: 100)
        }
        for _ in 1...3 {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: vault.path, with: .passphrase(secret("wrong")))
            }
        }
        let document = try VaultDocument(parsing: vault.bytes())
        let record = try #require(
            GenerationRecord(reading: vault.folder.bytes(of: TestVault.own("generation"))))
        #expect(document.changes == 1 && record.isRecord(of: document) && record.save != nil)
        try vault.put(former)
        #expect(try vault.unlock().reports.contains(.formerKey))
    }

    @Test("an edit saved together with a rekey is recorded as an edit of that save")
    func edits() throws {
        let vault = try TestVault()
        try vault.unlock().update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "a", account: "", value: secret("a")), now: 100)
            try changes.rekey()
        }
        let open = try vault.unlock()
        #expect(open.entries[0].edited.save == open.state.history.newest.id)
        #expect(try open.state.rekey(to: open.key) == open.state.history.newest)
    }
}
