import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

struct GenerationTests {
    @Test("an older file that was restored is reported, and still opens")
    func older() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let old = try vault.bytes()
        try vault.unlock().update(add("later"))
        let new = try vault.bytes()
        try vault.put(old)
        let open = try vault.unlock()
        #expect(open.reports == [.olderFile(generation: 5, newest: 6)])
        #expect(open.entries.count == 4)
        try vault.put(new)
        #expect(try vault.unlock().reports.isEmpty)
    }

    @Test("an open vault does not adopt an older file, even if no newer file was seen")
    func refreshed() throws {
        let vault = try TestVault()
        let (open, older) = (try vault.unlock(), try vault.bytes())
        _ = try vault.fill()
        try vault.put(older)
        #expect(try !open.refresh())
        #expect(open.reports.isEmpty)
    }

    @Test("a vault saved after an older file was restored is newer than all earlier files")
    func newest() throws {
        let vault = try TestVault()
        let old = try vault.bytes()
        for name in ["a", "b", "c"] { try vault.unlock().update(add(name)) }
        let lost = try vault.bytes()
        try vault.put(old)
        let open = try vault.unlock()
        try open.update(add("d"))
        #expect(open.generation == 5)
        // The previous generation contains "a" and "b", and is kept.
        #expect(open.reports == [unmerged(vault)])
        try vault.put(lost)
        #expect(try vault.unlock().reports == [.olderFile(generation: 4, newest: 5)])
    }

    @Test("after an older file was restored, saves keep the previous generation until it is merged")
    func unmergedPrevious() throws {
        let vault = try TestVault()
        let old = try vault.bytes()
        for name in ["a", "b"] { try vault.unlock().update(add(name)) }
        let own = TestVault.own("previous")
        let previous = try vault.folder.bytes(of: own)
        try vault.put(old)
        let report = unmerged(vault)
        #expect(try vault.unlock().reports == [report, .olderFile(generation: 1, newest: 3)])
        for name in ["c", "d"] {
            try vault.unlock().update(add(name))
            #expect(try vault.unlock().reports == [report])
            #expect(try vault.folder.bytes(of: own) == previous)
        }
        #expect(throws: VaultError.vanishedEntries) {
            try vault.unlock().change { try $0.rekey() }
        }
        let open = try vault.unlock()
        let copy = try #require(try open.copy(at: vault.folder.file(own)))
        let plan = try open.planOfMerge(with: copy, comparing: { _, _ in .same }, now: 9)
        let before = try vault.bytes()
        try open.merge(plan, confirmed: [], comparing: { _, _ in .same }, now: 9)
        #expect(try vault.folder.bytes(of: own) == before)
        #expect(try vault.unlock().reports.isEmpty)
        #expect(try Set(vault.unlock().entries.map(\.issuer)) == ["a", "c", "d"])
    }

    @Test(
        "in a previous generation that must be kept, a secret that must be wiped is erased",
        arguments: [false, true])
    func erased(isWiped: Bool) throws {
        let vault = try TestVault()
        try vault.unlock().update(add("secret"))
        let (id, old) = (try vault.unlock().entries[0].id, try vault.bytes())
        for name in ["a", "b"] { try vault.unlock().update(add(name)) }
        try vault.put(old)
        let box = try vault.box(of: id)
        #expect(try vault.holders(of: box) == [TestVault.own("previous"), "vault"])
        try vault.unlock().update { changes throws(VaultError) in
            if isWiped {
                try changes.wipe(id, because: .revoked, now: 9)
            } else {
                try changes.erase(id)
            }
        }
        #expect(try vault.holders(of: box) == [])
        #expect(try vault.unlock().reports.contains(unmerged(vault)))
    }

    @Test("a previous generation that is older than the recorded saves is not reported as unmerged")
    func longAgo() throws {
        let vault = try TestVault()
        try vault.unlock().update(add("a"))
        let open = try vault.unlock()
        var state = open.state
        for _ in 1...512 { state = try state.next(after: nil) }
        try vault.put(state.written(with: open.key))
        #expect(try vault.unlock().reports.isEmpty)
    }

    @Test("a previous generation with a different key is kept only if the vault lacks its save")
    func otherKey() throws {
        let vault = try TestVault()
        let own = TestVault.own("previous")
        let old = try vault.bytes()
        // Another device saves the vault with a new key.
        let folder = try TemporaryFolder()
        try TestVault.put(old, as: "vault", in: folder)
        let path = folder.file("vault")
        let there = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        try vault.unlock().update(add("a"))
        let first = try vault.bytes()
        try TestVault.put(first, as: "vault", in: folder)
        try there.change { try $0.rekey() }
        try vault.put(folder.bytes(of: "vault"))
        #expect(try vault.unlock().reports.isEmpty)
        let rekeyed = try vault.bytes()
        try vault.unlock().update(add("b"))
        #expect(try vault.folder.bytes(of: own) == rekeyed)
        // A file from before the rekey replaces the vault.
        try vault.unlock().update(add("c"))
        let previous = try vault.folder.bytes(of: own)
        try vault.put(first)
        for name in ["d", "e"] { try vault.unlock().update(add(name)) }
        #expect(try vault.folder.bytes(of: own) == previous)
        #expect(try Set(vault.unlock().reports) == [.formerKey, unmerged(vault)])
    }

    @Test("a file that lacks the last save here is reported, even if its generation is greater")
    func diverged() throws {
        let vault = try TestVault()
        let common = try vault.bytes()
        let folder = try TemporaryFolder()
        try TestVault.put(common, as: "vault", in: folder)
        for name in ["a", "b", "c"] { try unlocked(in: folder).update(add(name)) }
        let mine = try vault.unlock()
        try mine.update(add("mine"))
        try vault.put(folder.bytes(of: "vault"))
        // An open vault neither adopts the file nor saves on top of it.
        #expect(try !mine.refresh())
        #expect(throws: VaultError.changedMeanwhile) { try mine.update(add("more")) }
        #expect(mine.entries.map(\.issuer) == ["mine"])
        let open = try vault.unlock()
        #expect(open.reports == [.otherFile(generation: 4)])
        #expect(try open.check().reports == open.reports)
        // An owner who has seen the report may use the file.
        #expect(try open.refresh())
        try open.update(add("later"))
        #expect(try vault.unlock().reports.isEmpty)
    }

    /// The records about the newest generation.
    private func record(in folder: TemporaryFolder) throws -> GenerationRecord {
        try #require(GenerationRecord(reading: folder.bytes(of: TestVault.own("generation"))))
    }

    @Test("a vault that is only opened here is compared with the newest file that was opened")
    func onlyOpened() throws {
        let source = try TestVault()
        let old = try source.bytes()
        try source.unlock().change { try $0.rekey() }
        try source.unlock().update(add("a"))
        let folder = try TemporaryFolder()
        try TestVault.put(source.bytes(), as: "vault", in: folder)
        let held = try unlocked(in: folder)
        #expect(held.reports.isEmpty)
        let recorded = try record(in: folder)
        #expect(recorded.generation == 3 && recorded.rekey?.generation == 2)
        #expect(recorded.save == nil)
        // Nothing is written if nothing has changed.
        let stamp = FileStamp(of: folder.file(TestVault.own("generation")))
        #expect(try unlocked(in: folder).reports.isEmpty)
        #expect(FileStamp(of: folder.file(TestVault.own("generation"))) == stamp)
        try TestVault.put(old, as: "vault", in: folder)
        let older = VaultReport.olderFile(generation: 1, newest: 3)
        #expect(try unlocked(in: folder).reports == [.formerKey, older])
        #expect(try record(in: folder) == recorded)
        // A process that holds the vault records the generations that it reads.
        let present = try source.bytes()
        try source.unlock().update(add("b"))
        try TestVault.put(source.bytes(), as: "vault", in: folder)
        #expect(try held.refresh())
        try TestVault.put(present, as: "vault", in: folder)
        #expect(
            try unlocked(in: folder).reports == [.olderFile(generation: 3, newest: 4)])
    }

    @Test("opening a diverged, forged or kept file, or a file that was replaced, records nothing")
    func notRecorded() throws {
        let vault = try TestVault()
        let id = try vault.fill()[3]
        let folder = try TemporaryFolder()
        try TestVault.put(vault.bytes(), as: "vault", in: folder)
        for name in ["a", "b"] { try unlocked(in: folder).update(add(name)) }
        try vault.unlock().update(add("mine"))
        let (mine, recorded) = (try vault.bytes(), try record(in: vault.folder))
        try vault.put(folder.bytes(of: "vault"))
        #expect(try vault.unlock().reports.contains(.otherFile(generation: 7)))
        let tombstone = Tombstone(time: 9, reason: .failures)
        let forged = try VaultDocument(parsing: mine).wiping([id], leaving: tombstone)
        try vault.put(#require(forged).bytes)
        #expect(try vault.unlock().reports == [.vanished(id)])
        try vault.put(mine)
        let previous = vault.folder.file(TestVault.own("previous"))
        _ = try Vault.unlock(at: previous, with: .passphrase(TestVault.passphrase))
        #expect(try record(in: vault.folder) == recorded)
        #expect(try Set(vault.files()) == Set(TestVault.files))
        // Another process saves while this process opens the file.
        try removeFile(vault.folder.file(TestVault.own("generation")))
        var opening = try VaultOpening(vault.path) { .now() }
        let slot = try opening.slot(passphrase: TestVault.passphrase, ceiling: 20)
        try vault.unlock().update(add("more"))
        let newer = try record(in: vault.folder)
        _ = try opening.unlocked(by: slot, ceiling: 20, isReadOnly: false)
        #expect(try newer.generation == 7 && record(in: vault.folder) == newer)
    }

    @Test("a diverged file does not replace a previous generation that it does not include")
    func divergedLater() throws {
        let vault = try TestVault()
        let folder = try TemporaryFolder()
        try TestVault.put(vault.bytes(), as: "vault", in: folder)
        for name in ["a", "b", "c"] { try unlocked(in: folder).update(add(name)) }
        for name in ["mine", "more"] { try vault.unlock().update(add(name)) }
        let previous = try vault.folder.bytes(of: TestVault.own("previous"))
        try vault.put(folder.bytes(of: "vault"))
        let open = try vault.unlock()
        #expect(open.reports == [unmerged(vault), .otherFile(generation: 4)])
        try open.update(add("d"))
        #expect(try vault.unlock().reports == [unmerged(vault)])
        #expect(try vault.folder.bytes(of: TestVault.own("previous")) == previous)
    }

    @Test("a file that lacks changes known to an open vault is not adopted")
    func divergedUnsaved() throws {
        let vault = try TestVault()
        let folder = try TemporaryFolder()
        try TestVault.put(vault.bytes(), as: "vault", in: folder)
        try unlocked(in: folder).update(add("a"))
        let other = try folder.bytes(of: "vault")
        try TestVault.put(vault.bytes(), as: "vault", in: folder)
        for name in ["b", "c"] { try unlocked(in: folder).update(add(name)) }
        try vault.put(other)
        let open = try vault.unlock()
        #expect(open.reports.isEmpty)
        try vault.put(folder.bytes(of: "vault"))
        #expect(try !open.refresh())
        #expect(throws: VaultError.changedMeanwhile) { try open.update(add("d")) }
    }

    @Test("a generation record without a save, as earlier versions write it, is read")
    func withoutSave() throws {
        let vault = try TestVault()
        let document = try VaultDocument(parsing: vault.bytes())
        let own = TestVault.own("generation")
        let record = try #require(GenerationRecord(reading: vault.folder.bytes(of: own)))
        #expect(try record.save == .init(vault.unlock().state.history.newest))
        let former = GenerationRecord(of: document)
        #expect(String(decoding: record.text, as: UTF8.self).contains("\nsave 1 "))
        #expect(former.isRecord(of: document) && record.isRecord(of: document))
        #expect(GenerationRecord(reading: former.text) == former)
        try vault.put(former.text, as: own)
        #expect(try vault.unlock().reports.isEmpty)
    }

    @Test("an implausibly high recorded generation is reported, and later saves ignore it")
    func absurdMark() throws {
        let missed = VaultLimits.missedGenerations
        let cases: [(mark: UInt64, next: UInt64)] = [
            (1 + missed, 2 + missed), (2 + missed, 2), (VaultLimits.generation - 1, 2),
            (VaultLimits.generation, 2),
        ]
        for (generation, next) in cases {
            let vault = try TestVault()
            let document = try VaultDocument(parsing: vault.bytes())
            let mark = GenerationRecord(
                vaultID: document.vaultID, generation: generation, changes: 0,
                digest: document.digest)
            try vault.put(mark.text, as: TestVault.own("generation"))
            let open = try vault.unlock()
            #expect(open.reports == [.olderFile(generation: 1, newest: generation)])
            try open.update(add("a"))
            #expect(open.generation == next)
            #expect(try vault.unlock().reports.isEmpty)
            try open.update(add("b"))
            #expect(try vault.unlock().generation == next + 1)
        }
    }

    @Test("a vault can be created and opened even if its generation record cannot be written")
    func newUnmarked() throws {
        let folder = try TemporaryFolder()
        let mark = TestVault.own("generation")
        try TestVault.put(Array("notes".utf8), as: mark, in: folder)
        let key = RecoveryKey.make()
        let reports = try Vault.create(
            at: folder.file("vault"), passphrase: TestVault.passphrase,
            cost: .lowest, recoveryKey: key, now: 0)
        #expect(reports == [.generationNotRecorded(.inTheWay(name: mark))])
        let open = try Vault.unlock(at: folder.file("vault"), with: .recoveryKey(key))
        #expect(open.openedSlot == 2)
        #expect(try folder.bytes(of: mark) == Array("notes".utf8))
    }

    @Test("a restored file that lacks a change made without the vault key is reported")
    func olderChange() throws {
        let vault = try TestVault()
        let document = try VaultDocument(parsing: vault.bytes())
        let mark = GenerationRecord(
            vaultID: document.vaultID, generation: 1, changes: 1, digest: document.digest)
        try vault.put(mark.text, as: TestVault.own("generation"))
        #expect(try vault.unlock().reports == [.olderFile(generation: 1, newest: 1)])
    }

    @Test("a generation record that is missing, damaged, older or of another vault is not reported")
    func noMark() throws {
        let vault = try TestVault()
        let document = try VaultDocument(parsing: vault.bytes())
        func mark(_ generation: UInt64, of vaultID: [UInt8]) -> [UInt8] {
            GenerationRecord(
                vaultID: vaultID, generation: generation, changes: 0, digest: document.digest
            ).text
        }
        let marks: [[UInt8]] = [
            [], Array("watchword-generation 1\n".utf8),
            mark(9, of: [UInt8](repeating: 1, count: 16)), mark(1, of: document.vaultID),
            mark(9, of: document.vaultID) + [0x0A], mark(.max, of: document.vaultID),
        ]
        for mark in marks {
            try vault.put(mark, as: TestVault.own("generation"))
            #expect(try vault.unlock().reports.isEmpty)
        }
        try vault.unlock().update(add("still"))
        #expect(try vault.unlock().generation == 2)
    }

    @Test("a generation record that cannot be written is reported, and the save is kept")
    func unmarked() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        // The generation record cannot replace a folder with its name.
        let mark = TestVault.own("generation")
        try removeFile(vault.folder.file(mark))
        try makeFolder(vault.folder.file(mark))
        try open.update(add("saved"))
        #expect(
            open.reports == [.generationNotRecorded(.inTheWay(name: mark))])
        #expect(try vault.unlock().entries.map(\.issuer) == ["saved"])
    }

    private func unlocked(in folder: TemporaryFolder) throws -> UnlockedVault {
        try Vault.unlock(
            at: folder.file("vault"), with: .passphrase(TestVault.passphrase))
    }

    private func unmerged(_ vault: TestVault) -> VaultReport {
        .unmergedPrevious(path: vault.folder.file(TestVault.own("previous")))
    }

    private func add(_ name: String) -> (inout VaultChanges) throws(VaultError) -> Void {
        { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: name, account: "", value: secret("x")), now: 0)
        }
    }
}
