import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// A wiped secret stays wiped, even if an attacker puts lines of older files into the newest file
/// and recomputes its last line.
struct WipedRecordTests {
    /// A vault whose fourth entry was wiped, with all earlier files.
    struct Sample {
        let vault: TestVault
        let key: VaultKey
        let wiped: RecordID
        /// The files before the wipe, oldest first.
        let older: [[UInt8]]

        init() throws {
            vault = try TestVault(recoveryKey: true)
            var older = [try vault.bytes()]
            let open = try vault.unlock()
            for content in try TestVault.contents() {
                try open.update { changes throws(VaultError) in
                    try changes.add(
                        content,
                        accessControl: AccessControl(
                            presence: .perUnlock, onFailure: .wipe(after: .three)),
                        now: TestVault.now)
                }
                older.append(try vault.bytes())
            }
            wiped = open.entries[3].id
            // Seal the secret a second time, so that several old secrets can be restored.
            let id = wiped
            try open.update { changes throws(VaultError) in
                try changes.replace(
                    id, with: .enrolledSecret(issuer: "shop", account: "", value: secret("two")))
            }
            older.append(try vault.bytes())
            self.older = older
            key = open.key
        }

        /// Wipes the entry without the vault key.
        func wipe() throws {
            try wipe(wiped)
        }

        func wipe(_ id: RecordID) throws {
            try vault.countFailures(of: [id])
            var writer = try VaultWriter(VaultLocation(vault.path))
            try writer.wipe(
                [id], counting: vault.attempts(),
                leaving: Tombstone(time: TestVault.now, reason: .failures))
        }

        /// Whether the wiped entry opens in the file `bytes`; `nil` if the file does not open.
        func revives(_ bytes: [UInt8]) throws -> Bool? {
            let state: VaultState
            do throws(VaultError) {
                state = try VaultState(verifying: VaultDocument(parsing: bytes), with: key)
            } catch {
                return nil
            }
            do throws(VaultError) {
                _ = try state.records[try state.index(of: wiped)].content(with: key)
                return true
            } catch {
                return false
            }
        }
    }

    private func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// A file of these lines, with a recomputed last line.
    private func file(_ lines: [String]) -> [UInt8] {
        let body = Array((lines.dropLast().joined(separator: "\n") + "\n").utf8)
        return body + VaultEnvelope.lastLine(for: body[...])
    }

    @Test("in a rekeyed vault, a wipe also reaches the older files")
    func rekeyed() throws {
        let vault = try TestVault()
        let id = try vault.fill()[1]
        let open = try vault.unlock()
        try open.change { try $0.rekey() }
        let box = try vault.box(of: id)
        let former = ".watchword/by-name/former/previous"
        try vault.put(vault.bytes(), as: former)
        let access = AccessControl(presence: .perUnlock, onFailure: .wipe(after: .three))
        try open.change { try $0.setAccessControl(of: id, to: access) }
        for _ in 1...3 { vault.expectRefusal() }
        #expect(try vault.holders(of: box) == [])
        let record = try GenerationRecord.read(of: VaultLocation(vault.path))
        #expect(try record?.digest == VaultDocument(parsing: vault.bytes()).digest)
    }

    @Test("O-12 one or two lines of older files do not restore a wiped secret")
    func splicedLines() throws {
        let sample = try Sample()
        try sample.wipe()
        #expect(try sample.vault.unlock().reports.count == 1)
        let newest = lines(try sample.vault.bytes())
        let old = Set(sample.older.flatMap { lines($0) }).subtracting(newest).sorted()
        #expect(old.count > 20)
        var opened = 0
        for line in old {
            for place in newest.indices.dropLast() {
                for changes in ["changes 0", "changes 1"] {
                    var spliced = newest
                    let counted = try #require(spliced.firstIndex { $0.hasPrefix("changes ") })
                    spliced[counted] = changes
                    spliced[place] = line
                    let revived = try sample.revives(file(spliced))
                    #expect(revived != true, "\(line) in line \(place + 1)")
                    if revived == false { opened += 1 }
                }
            }
        }
        #expect(opened == 0)
        // Replace two lines at once: the secret and any other line of the same file.
        let secrets = old.filter { $0.hasPrefix("sealed ") }
        let tombstone = try #require(newest.firstIndex { $0.hasPrefix("tombstone ") })
        for secret in secrets {
            for line in old {
                for place in newest.indices.dropLast() where place != tombstone {
                    var spliced = newest
                    spliced[tombstone] = secret
                    spliced[place] = line
                    #expect(try sample.revives(file(spliced)) == nil)
                }
            }
        }
    }

    @Test("O-12 an old secret in place of a tombstone is reported as a restored record")
    func named() throws {
        let sample = try Sample()
        try sample.wipe()
        _ = try sample.vault.unlock()
        try sample.vault.unlock().update { changes throws(VaultError) in
            try changes.rename(sample.wiped, issuer: "later", account: "")
        }
        let newest = lines(try sample.vault.bytes())
        let tombstone = try #require(newest.firstIndex { $0.hasPrefix("tombstone ") })
        let id = newest[tombstone].split(separator: " ")[1]
        let last = try #require(sample.older.last)
        let secret = try #require(lines(last).first { $0.hasPrefix("sealed \(id)") })
        var spliced = newest
        spliced[tombstone] = secret
        try sample.vault.put(file(spliced))
        #expect(throws: VaultError.damaged(.recordRestored(sample.wiped))) {
            try sample.vault.unlock()
        }
        spliced[tombstone] = newest[tombstone].replacing("failures", with: "revoked")
        try sample.vault.put(file(spliced))
        #expect(throws: VaultError.damaged(.record(sample.wiped))) { try sample.vault.unlock() }
        try sample.vault.put(file(newest))
        #expect(try sample.vault.unlock().entries[3].tombstone != nil)
    }

    @Test(
        "O-12 an unlock lists in the manifest the wipes made without the key")
    func listed() throws {
        let sample = try Sample()
        try sample.wipe()
        let wiped = try VaultDocument(parsing: sample.vault.bytes())
        #expect(wiped.changes == 1)
        let open = try sample.vault.unlock()
        let listed = try VaultDocument(parsing: sample.vault.bytes())
        #expect(listed.changes == 0 && listed.generation == wiped.generation + 1)
        #expect(open.generation == listed.generation)
        #expect(open.reports.count == 1)
        // The next unlock does not save the vault.
        _ = try sample.vault.unlock()
        #expect(try sample.vault.bytes() == listed.bytes)
        let previous = try sample.vault.folder.bytes(of: TestVault.own("previous"))
        #expect(try sample.revives(previous) == false)
    }

    @Test(
        "O-12 a secret restored before the manifest is updated is detected"
    )
    func putBackEarly() throws {
        let sample = try Sample()
        let before = try #require(sample.older.last)
        try sample.wipe()
        let newest = lines(try sample.vault.bytes())
        let tombstone = try #require(newest.firstIndex { $0.hasPrefix("tombstone ") })
        let id = newest[tombstone].split(separator: " ")[1]
        var spliced = newest
        spliced[tombstone] = try #require(lines(before).first { $0.hasPrefix("sealed \(id)") })
        try sample.vault.put(file(spliced))
        #expect(throws: VaultError.damaged(.changes)) { try sample.vault.unlock() }
        // With the count reset, the file is as before the wipe, and the entry is wiped again.
        let count = try #require(spliced.firstIndex { $0.hasPrefix("changes ") })
        spliced[count] = "changes 0"
        #expect(file(spliced) == before)
        try sample.vault.put(before)
        #expect(try sample.vault.unlock().entries[3].tombstone != nil)
        #expect(try sample.revives(sample.vault.bytes()) == false)
    }

    @Test(
        "O-12 a file with the same number of tombstones, but for other records, is detected"
    )
    func otherTombstone() throws {
        let sample = try Sample()
        let before = try #require(sample.older.last)
        try sample.wipe()
        let ids = try VaultDocument(parsing: before).records.map(\.id)
        let other = try #require(
            try VaultDocument(parsing: before).wiping(
                [ids[0]], leaving: Tombstone(time: TestVault.now, reason: .failures)))
        try sample.vault.put(other.bytes)
        let reports = try sample.vault.unlock().reports
        #expect(reports.contains(.vanished(ids[0])), "\(reports)")
    }

    @Test("a wipe without the key keeps a previous generation with different slots until an unlock")
    func otherSlots() throws {
        let sample = try Sample()
        let box = try sample.vault.box(of: sample.wiped)
        let cost = ScryptCost.lowest
        try sample.vault.unlock().update { changes throws(VaultError) in
            try changes.addPassphrase(secret("another"), cost: cost, now: TestVault.now)
        }
        for _ in 1...3 { sample.vault.expectRefusal() }
        #expect(try sample.vault.holders(of: box) == [TestVault.own("previous")])
        // Opening the older file clears no failures.
        let previous = sample.vault.folder.file(TestVault.own("previous"))
        _ = try Vault.unlock(at: previous, with: .passphrase(TestVault.passphrase))
        let open = try sample.vault.unlock()
        #expect(open.reports.map(\.entry) == open.entries.map(\.id))
        #expect(open.entries.allSatisfy { $0.tombstone != nil })
        #expect(try sample.vault.holders(of: box) == [])
    }

    @Test("a wipe erases a previous generation that cannot be read")
    func unreadablePrevious() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let previous = TestVault.own("previous")
        try vault.put(Array(vault.folder.bytes(of: previous).dropLast()), as: previous)
        for _ in 1...3 {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: vault.path, with: .passphrase(secret("wrong")))
            }
        }
        #expect(try !vault.files().contains(previous))
    }

    @Test("each of several entries wiped at once is counted as a change")
    func several() throws {
        let sample = try Sample()
        let ids = try VaultDocument(parsing: sample.vault.bytes()).records.map(\.id)
        try sample.vault.countFailures(of: [ids[0], ids[2]])
        do {
            var writer = try VaultWriter(VaultLocation(sample.vault.path))
            try writer.wipe(
                [ids[0], ids[2]], counting: sample.vault.attempts(),
                leaving: Tombstone(time: 5, reason: .failures))
        }
        try sample.wipe(ids[1])
        #expect(try VaultDocument(parsing: sample.vault.bytes()).changes == 3)
        let open = try sample.vault.unlock()
        #expect(open.entries.map { $0.tombstone != nil } == [true, true, true, false])
        #expect(try VaultDocument(parsing: sample.vault.bytes()).changes == 0)
    }

    @Test("a vault that cannot be saved still opens, with a report that its wipes are not listed")
    func notListed() throws {
        let sample = try Sample()
        try sample.wipe()
        let writer = try VaultWriter(VaultLocation(sample.vault.path))
        let opening = try VaultState(
            verifying: VaultDocument(parsing: sample.vault.bytes()), with: sample.key)
        #expect(opening.hasUnlistedTombstones)
        let vault = try sample.vault.unlock()
        #expect(vault.reports.contains(.wipesNotListed(.busy)), "\(vault.reports)")
        // The failures prove the wipe, so the list agrees with the report.
        #expect(
            vault.reports.contains { if case .wiped(sample.wiped, _) = $0 { true } else { false } })
        #expect(vault.entries.allSatisfy { !$0.hasVanished })
        let held = try HeldVault(vault).vault().entry(sample.wiped)
        #expect(held.tombstone != nil && !held.hasVanished)
        _ = consume writer
        try vault.change { try $0.rename(sample.wiped, issuer: "saved", account: "") }
        #expect(!vault.reports.contains(.wipesNotListed(.busy)))
        #expect(try VaultDocument(parsing: sample.vault.bytes()).changes == 0)
    }
}
