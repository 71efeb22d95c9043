import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// The saves of a file, and the last edit of each entry.
struct VaultHistoryTests {
    private func add(_ name: String) -> (inout VaultChanges) throws(VaultError) -> RecordID {
        { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: name, account: "", value: secret("x")), now: 1)
        }
    }

    private func history(_ vault: TestVault) throws -> VaultHistory {
        try vault.unlock().state.history
    }

    @Test("each save adds itself to the history, and reading adds nothing")
    func growing() throws {
        let vault = try TestVault()
        let first = try history(vault)
        #expect(first.saves.map(\.generation) == [1])
        try vault.unlock().update { changes throws(VaultError) in _ = try add("a")(&changes) }
        let second = try history(vault)
        #expect(second.saves.map(\.generation) == [2, 1])
        #expect(second.saves.last == first.newest && second.newest.id != first.newest.id)
        #expect(second.includes(first) && !first.includes(second) && second.includes(second))
        #expect(try history(vault) == second)
    }

    @Test("copies that were edited independently do not include each other")
    func independent() throws {
        let vault = try TestVault()
        let common = try vault.bytes()
        try vault.unlock().update { changes throws(VaultError) in _ = try add("a")(&changes) }
        let one = try history(vault)
        try vault.put(common)
        for name in ["b", "c"] {
            try vault.unlock().update { changes throws(VaultError) in
                _ = try add(name)(&changes)
            }
        }
        let other = try history(vault)
        #expect(!one.includes(other) && !other.includes(one))
        #expect(one.saves.last == other.saves.last)
    }

    @Test("records sealed in a save that both files contain were sealed before the files diverged")
    func parted() {
        func save(_ generation: UInt64) -> VaultHistory.Save {
            VaultHistory.Save(generation: generation, id: .make())
        }
        let common = VaultHistory(save(1)).followed(by: save(2))
        let (one, other) = (common.followed(by: save(3)), common.followed(by: save(3)))
        for generation in 1...4 as ClosedRange<UInt64> {
            #expect(one.mayHaveSealed(in: generation, since: other) == (generation == 3))
        }
        #expect(!one.mayHaveSealed(in: 3, since: one.joined(with: other, by: save(4))))
        // A full history does not show the saves that it has dropped, unless both files share one
        // of its saves.
        let full = (3...514 as ClosedRange<UInt64>).reduce(common) { $0.followed(by: save($1)) }
        #expect(full.saves.last?.generation == 3)
        #expect(full.mayHaveSealed(in: 2, since: common))
        #expect(!full.mayHaveSealed(in: 2, since: full.followed(by: save(515))))
    }

    @Test("a full history may have dropped an unknown edit, or one as old as its last two saves")
    func dropped() {
        func history(_ generations: ClosedRange<UInt64>) -> VaultHistory {
            let saves = generations.map { VaultHistory.Save(generation: $0, id: .make()) }
            return saves.dropFirst().reduce(VaultHistory(saves[0])) { $0.followed(by: $1) }
        }
        let (full, short) = (history(100...611), history(100...610))
        let other = history(99...102)
        for (edit, mayBeOld) in zip(
            other.saves.map(\.id) + [.make()], [false, true, true, true, true])
        {
            #expect(full.mayHaveDropped(edit, of: other) == mayBeOld)
            #expect(!short.mayHaveDropped(edit, of: other))
        }
        #expect(!full.mayHaveDropped(full.newest.id, of: other))
    }

    @Test("the history keeps the newest 512 saves")
    func limit() throws {
        var history = VaultHistory(VaultHistory.Save(generation: 1, id: .make()))
        for generation in UInt64(2)...600 {
            history = history.followed(
                by: VaultHistory.Save(generation: generation, id: .make()))
        }
        #expect(history.saves.map(\.generation) == (89...600).reversed())
        let bytes = SecretBytes(capacity: history.room) { history.write(to: &$0) }
        #expect(bytes.count == history.room)
        var fields = FieldReader(.bigEndian)
        let read = try bytes.withBytes { bytes throws(FieldReader.Unreadable) in
            try VaultHistory(reading: &fields, in: bytes)
        }
        #expect(read == history)
    }

    @Test("a history that ends with the save that a merge replaced may have dropped newer ones")
    func droppedByMerge() {
        func save(_ generation: UInt64) -> VaultHistory.Save {
            VaultHistory.Save(generation: generation, id: .make())
        }
        let common = VaultHistory(save(1))
        let ours = common.followed(by: save(2))
        var theirs = common
        for generation in UInt64(2)...64 { theirs = theirs.followed(by: save(generation)) }
        let copy = theirs
        theirs = theirs.followed(by: save(65))
        var merged = ours.joined(with: theirs, by: save(66))
        for generation in UInt64(67)...576 { merged = merged.followed(by: save(generation)) }
        #expect(merged.saves.last == ours.newest && !merged.contains(copy.newest.id))
        #expect(merged.mayHaveDropped(copy.newest.id, of: copy))
        let later = copy.followed(by: save(577))
        #expect(!merged.mayHaveDropped(later.newest.id, of: later))
    }

    @Test("a history is neither empty nor too long, and its first save is the newest")
    func refused() throws {
        func read(_ generations: [UInt64]) throws(FieldReader.Unreadable) -> VaultHistory {
            let bytes = SecretBytes(capacity: 4 + 16 * generations.count) { output in
                output.append(UInt64(generations.count), bytes: 4)
                for generation in generations {
                    output.append(generation, bytes: 8)
                    output.append(7, bytes: 8)
                }
            }
            return try bytes.withBytes { bytes throws(FieldReader.Unreadable) in
                var fields = FieldReader(.bigEndian)
                return try VaultHistory(reading: &fields, in: bytes)
            }
        }
        #expect(try read([9, 5, 1]).saves.count == 3)
        #expect(try read([9, 5, 6]).saves.count == 3)
        #expect(try read((1...512).reversed()).saves.count == 512)
        for generations: [UInt64] in [
            [], [0], [5, 5], [5, 6], [9, 5, 5], [9, 0], (1...513).reversed(),
        ] {
            #expect(throws: FieldReader.Unreadable.self) { try read(generations) }
        }
    }

    @Test("an edit records its time and save in the entry; a counter and a rotation do not")
    func edits() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let contents = try TestVault.contents()
        let open = try vault.unlock()
        let edits: [(RecordID, (inout VaultChanges) throws(VaultError) -> Void)] = [
            (
                ids[0],
                { changes throws(VaultError) in
                    try changes.replace(ids[0], with: contents[0], now: 100)
                }
            ),
            (
                ids[1],
                { changes throws(VaultError) in
                    try changes.rename(ids[1], issuer: "b", account: "", now: 100)
                }
            ),
            (
                ids[2],
                { changes throws(VaultError) in
                    try changes.setDetails(of: ids[2], to: EntryDetails(note: "n"), now: 100)
                }
            ),
            (
                ids[3],
                { changes throws(VaultError) in
                    try changes.setAccessControl(of: ids[3], to: .standard(for: .totp), now: 100)
                }
            ),
        ]
        for (id, edit) in edits {
            let others = open.entries.filter { $0.id != id }.map(\.edited)
            try open.update(edit)
            let entries = try vault.unlock().entries
            let save = try history(vault).newest.id
            #expect(entries.first { $0.id == id }?.edited == EntryEdit(time: 100, save: save))
            #expect(entries.filter { $0.id != id }.map(\.edited) == others)
        }
        let before = open.entries.map(\.edited)
        try open.update { changes throws(VaultError) in
            _ = try changes.advanceCounter(of: ids[1])
            try changes.advance(ids[3], to: contents[3])
            try changes.wipe(ids[0], because: .failures, now: 200)
            try changes.rekey()
        }
        #expect(try vault.unlock().entries.map(\.edited) == before)
    }

    @Test("a file of format 1 has one save, whose ID a wipe without the vault key does not change")
    func formatOne() throws {
        let url = PackageFolder.root.appending(path: "Vectors/vault/every-kind-v1.vault")
        let document = try VaultDocument(parsing: [UInt8](try Data(contentsOf: url)))
        #expect(document.version == 1)
        let opener = VaultOpener.passphrase(TestVault.passphrase)
        let key = try document.opened(with: opener, ceiling: 10).key
        let state = try VaultState(verifying: document, with: key)
        let save = SaveID(document.manifest.span.extracting(first: 8))
        #expect(state.history == VaultHistory(.init(generation: document.generation, id: save)))
        for entry in state.records.map(\.summary) {
            #expect(entry.edited == EntryEdit(time: entry.created, save: save))
            #expect(entry.details == EntryDetails())
        }
        let tombstone = Tombstone(time: 1, reason: .failures)
        let wiped = try #require(
            try document.wiping([document.records[0].id], leaving: tombstone))
        #expect(wiped.version == 1)
        let later = try VaultState(verifying: wiped, with: key)
        #expect(later.history == state.history)
        // Two copies that are saved independently share this save.
        let ones = try state.next(after: nil), others = try later.next(after: nil)
        #expect(ones.history.contains(save) && others.history.contains(save))
        #expect(!ones.history.includes(others.history))
    }

    @Test("a manifest of format 1 under the first line of format 2, or the reverse, is refused")
    func mixed() throws {
        let url = PackageFolder.root.appending(path: "Vectors/vault/every-kind-v1.vault")
        let former = [UInt8](try Data(contentsOf: url))
        let document = try VaultDocument(parsing: former)
        let opener = VaultOpener.passphrase(TestVault.passphrase)
        let key = try document.opened(with: opener, ceiling: 10).key
        let state = try VaultState(verifying: document, with: key)
        let plaintext = try SealedBox.open(
            document.manifest, under: key.derived(for: .manifest),
            associatedData: document.macLine, or: .damaged(.manifest))
        func refuses(_ manifest: SecretBytes, _ count: Int, former: VaultHistory.Save?) -> Bool {
            manifest.withBytes { bytes in
                do {
                    _ = try Manifest(reading: bytes.extracting(first: count), former: former)
                    return false
                } catch {
                    return true
                }
            }
        }
        #expect(!refuses(plaintext, plaintext.count, former: state.history.newest))
        #expect(refuses(plaintext, plaintext.count, former: nil))
        let written = try VaultDocument(parsing: state.written(with: key))
        let current = try SealedBox.open(
            written.manifest, under: key.derived(for: .manifest),
            associatedData: written.macLine, or: .damaged(.manifest))
        #expect(!refuses(current, current.count, former: nil))
        #expect(refuses(current, current.count, former: state.history.newest))
        #expect((0..<current.count).allSatisfy { refuses(current, $0, former: nil) })
    }
}
