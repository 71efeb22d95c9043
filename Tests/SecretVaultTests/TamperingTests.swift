import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Accidental and malicious changes to the file, without the vault key.
struct TamperingTests {
    /// The files of a vault with an entry of each kind, and its keys.
    struct Sample {
        let vault: TestVault
        let ids: [RecordID]
        let bytes: [UInt8]
        let document: VaultDocument
        let key: VaultKey

        init() throws {
            vault = try TestVault(recoveryKey: true)
            ids = try vault.fill()
            bytes = try vault.bytes()
            document = try VaultDocument(parsing: bytes)
            key = try document.opened(with: .passphrase(TestVault.passphrase), ceiling: 24).key
        }

        /// Makes all verifications of unlocking and checking, without deriving a key from the
        /// passphrase.
        func verify(_ bytes: [UInt8]) throws(VaultError) {
            let state = try VaultState(verifying: VaultDocument(parsing: bytes), with: key)
            for record in state.records {
                guard case .sealed = record.body else { continue }
                _ = try record.content(with: key)
            }
        }

        /// A copy with a recomputed last line, as an attacker would make it.
        func forged(_ bytes: [UInt8]) -> [UInt8] {
            let body = bytes.dropLast(VaultEnvelope.lastLineCount)
            return body + VaultEnvelope.lastLine(for: body)
        }

        /// The file with changed lines and a recomputed last line.
        func forged(_ change: (inout [String]) throws -> Void) throws -> [UInt8] {
            var lines = self.lines
            try change(&lines)
            return forged(Array((lines.joined(separator: "\n") + "\n").utf8))
        }

        var lines: [String] {
            String(decoding: bytes, as: UTF8.self).dropLast().split(
                separator: "\n", omittingEmptySubsequences: false
            ).map(String.init)
        }
    }

    @Test("an unchanged sample is valid")
    func untouched() throws {
        let sample = try Sample()
        #expect(throws: Never.self) { try sample.verify(sample.bytes) }
        #expect(sample.forged(sample.bytes) == sample.bytes)
        #expect(try sample.forged { _ in } == sample.bytes)
    }

    @Test("every flipped byte is detected, and not reported as truncation")
    func flips() throws {
        let sample = try Sample()
        for index in sample.bytes.indices {
            for bit: UInt8 in [0x01, 0x02, 0x20, 0x80] {
                var flipped = sample.bytes
                flipped[index] ^= bit
                let error = #expect(throws: VaultError.self, "byte \(index)") {
                    try VaultDocument(parsing: flipped)
                }
                #expect(error != .truncated, "byte \(index), bit \(bit)")
            }
        }
    }

    @Test("the vault key detects every flipped byte even if the last line is recomputed")
    func forgedFlips() throws {
        let sample = try Sample()
        var unnoticed: [Int] = []
        for index in 0..<sample.bytes.count - VaultEnvelope.lastLineCount {
            for bit: UInt8 in [0x01, 0x20] {
                var flipped = sample.bytes
                flipped[index] ^= bit
                do {
                    try sample.verify(sample.forged(flipped))
                    unnoticed.append(index)
                } catch {}
            }
        }
        #expect(unnoticed == [])
    }

    @Test("a file that is truncated anywhere is reported as truncated")
    func cuts() throws {
        let sample = try Sample()
        for count in sample.bytes.indices {
            #expect(throws: VaultError.truncated, "truncated after \(count) bytes") {
                try VaultDocument(parsing: Array(sample.bytes.prefix(count)))
            }
        }
    }

    @Test("a missing, duplicate or swapped line is detected")
    func lines() throws {
        let sample = try Sample()
        let count = sample.lines.count - 1
        for index in 0..<count {
            let missing = try sample.forged { lines in lines.remove(at: index) }
            #expect(throws: VaultError.self, "line \(index + 1) missing") {
                try sample.verify(missing)
            }
            let doubled = try sample.forged { lines in lines.insert(lines[index], at: index) }
            #expect(throws: VaultError.self, "line \(index + 1) doubled") {
                try sample.verify(doubled)
            }
            for other in index + 1..<count {
                let swapped = try sample.forged { lines in lines.swapAt(index, other) }
                #expect(throws: VaultError.self, "lines \(index + 1) and \(other + 1) swapped") {
                    try sample.verify(swapped)
                }
            }
        }
    }

    @Test("different line endings, spaces, leading zeros, signs and text after the end are refused")
    func canonical() throws {
        let sample = try Sample()
        let spoilings: [(String, (String) -> String)] = [
            ("generation ", { $0.replacing("generation ", with: "generation 0") }),
            ("generation ", { $0.replacing("generation ", with: "generation +") }),
            ("generation ", { $0 + " " }),
            ("generation ", { $0 + "\r" }),
            ("record ", { $0.replacing(" lock-out", with: "  lock-out") }),
            ("record ", { $0.replacing("per-unlock", with: "Per-unlock") }),
            ("changes ", { $0.replacing("changes ", with: "changes 0") }),
            ("changes ", { _ in "changes 9223372036854775808" }),
            ("changes ", { $0 + "\n" }),
            ("changes ", { $0 + "\nattempts vault 1 1 1 AAAAAAAAAAAAAAAAAAAAAA== 1" }),
            ("sealed ", { _ in "tombstone \(Self.unknownID) 1 failures" }),
        ]
        for (start, spoil) in spoilings {
            let index = try #require(sample.lines.firstIndex { $0.hasPrefix(start) })
            let spoiled = try sample.forged { lines in lines[index] = spoil(lines[index]) }
            let error = #expect(throws: VaultError.self) { try VaultDocument(parsing: spoiled) }
            #expect(
                [.damaged(.line(index + 1)), .damaged(.line(index + 2))].contains(error),
                "\(start) \(String(describing: error))")
        }
        #expect(throws: VaultError.damaged(.checksum)) {
            try VaultDocument(parsing: sample.bytes + [0x0A])
        }
        #expect(throws: VaultError.damaged(.checksum)) {
            try VaultDocument(parsing: sample.bytes + Array("attempt".utf8) + [0x0A])
        }
    }

    private static let unknownID = "AAAAAAAAAAAAAAAAAAAAAA=="

    @Test("Base64 with nonzero trailing bits is refused even if only the checksum covers it")
    func nonzeroTrailingBits() throws {
        let sample = try Sample()
        let index = try #require(sample.lines.firstIndex { $0.hasPrefix("vault ") })
        let line = Array(sample.lines[index].utf8)
        // The last character before the padding encodes only two bits of the last byte.
        var loose = line
        loose[line.count - 3] += 1
        let forged = try sample.forged { lines in
            lines[index] = String(decoding: loose, as: UTF8.self)
        }
        #expect(throws: VaultError.damaged(.line(index + 1))) {
            try VaultDocument(parsing: forged)
        }
    }

    @Test("a record's older box, and the box of another record, are detected at unlock")
    func replay() throws {
        let sample = try Sample()
        let open = try sample.vault.unlock()
        try open.update { changes throws(VaultError) in
            try changes.replace(
                sample.ids[2], with: .plainSecret(issuer: "", account: "", value: secret("new")))
        }
        let newBytes = try sample.vault.bytes()
        let newer = String(decoding: newBytes, as: UTF8.self).split(separator: "\n").map(
            String.init)
        let places = newer.indices.filter { newer[$0].hasPrefix("sealed ") }
        let oldPlaces = sample.lines.indices.filter { sample.lines[$0].hasPrefix("sealed ") }
        func forge(_ line: String, at place: Int) -> [UInt8] {
            var lines = newer
            lines[place] = line
            return sample.forged(Array((lines.joined(separator: "\n") + "\n").utf8))
        }
        let old = forge(sample.lines[oldPlaces[2]], at: places[2])
        #expect(throws: VaultError.damaged(.record(sample.ids[2]))) { try sample.verify(old) }
        let box = newer[places[3]].split(separator: " ")[2]
        let id = newer[places[2]].split(separator: " ")[1]
        let swapped = forge("sealed \(id) \(box)", at: places[2])
        #expect(throws: VaultError.damaged(.record(sample.ids[2]))) { try sample.verify(swapped) }
        #expect(throws: Never.self) {
            try sample.verify(forge(newer[places[2]], at: places[2]))
        }
    }

    @Test("the removal of any record without a tombstone is distinguished from other damage")
    func removedRecord() throws {
        let sample = try Sample()
        let records = sample.lines.filter { $0.hasPrefix("record ") }
        let ids = records.map { $0.split(separator: " ")[1] }
        for (place, id) in ids.enumerated() {
            let gone = VaultError.damaged(.recordRemoved(sample.ids[place]))
            let wholly = try sample.forged { lines in lines.removeAll { $0.contains(id) } }
            #expect(throws: gone) { try sample.verify(wholly) }
            let box = try sample.forged { lines in lines.removeAll { $0.hasPrefix("sealed \(id)") }
            }
            #expect(throws: gone) { try VaultDocument(parsing: box) }
        }
        // A header with changes to all its records is reported as damage.
        let other = try sample.forged { lines in
            lines = lines.map { $0.hasPrefix("record ") ? $0.replacing("unlock", with: "use") : $0 }
        }
        #expect(throws: VaultError.damaged(.header)) { try sample.verify(other) }
    }

    @Test(
        "a slot that was added without the key opens nothing, and clears no failures",
        arguments: ["passphrase", "recovery key"])
    func forgedSlot(method: String) throws {
        let vault = try TestVault(recoveryKey: true)
        // Two more attempts follow, and the second one costs a wait.
        let earlier = LockOutPolicy.failuresUntilWait - 2
        for _ in 0..<earlier {
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: vault.path, with: .passphrase(secret("wrong")))
            }
        }
        let document = try VaultDocument(parsing: vault.bytes())
        let forged = VaultKey.make(of: document.vaultID)
        let (passphrase, recoveryKey) = (secret("my own"), RecoveryKey.make())
        let isPassphrase = method == "passphrase"
        let slot = try TrustedSlot.sealing(
            forged,
            under: isPassphrase
                ? .passphrase(passphrase, .lowest) : .recoveryKey(recoveryKey),
            number: 9, created: 0)
        var text = VaultText()
        text.write(document.bytes[..<document.headerEnd])
        slot.slot.write(to: &text)
        text.write(document.bytes[document.headerEnd...].dropLast(VaultEnvelope.lastLineCount))
        try vault.put(text.bytes + VaultEnvelope.lastLine(for: text.bytes[...]))
        let opener =
            isPassphrase
            ? VaultOpener.passphrase(passphrase) : .recoveryKey(recoveryKey)
        #expect(throws: VaultError.damaged(.header)) {
            try Vault.unlock(at: vault.path, with: opener)
        }
        // The genuine slot has refused a passphrase, but no recovery key was tried on it.
        let failures = try #require(try vault.attempts().vault)
        #expect(failures.refused == earlier && failures.undecided == (isPassphrase ? 1 : 0))
        guard isPassphrase else { return }
        // The owner's passphrase does not open this file, and costs a wait, because the added slot
        // has refused it. The recovery key opens the genuine file during that wait.
        #expect(throws: VaultError.damaged(.header)) { try vault.unlock() }
        try vault.put(document.bytes)
        #expect(try Vault.lockOut(at: vault.path).seconds > 0)
        _ = try Vault.unlock(
            at: vault.path, with: .recoveryKey(try #require(vault.recoveryKey)))
        #expect(try Vault.lockOut(at: vault.path).seconds == 0)
        _ = try vault.unlock()
    }

    @Test("the manifest of an older generation does not open under a newer header")
    func olderManifest() throws {
        let sample = try Sample()
        try sample.vault.unlock().update { changes throws(VaultError) in
            try changes.rename(sample.ids[0], issuer: "renamed", account: "")
        }
        let old = try #require(sample.lines.first { $0.hasPrefix("manifest ") })
        var lines = String(decoding: try sample.vault.bytes(), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        let index = try #require(lines.firstIndex { $0.hasPrefix("manifest ") })
        lines[index] = old
        let forged = sample.forged(Array((lines.joined(separator: "\n") + "\n").utf8))
        #expect(throws: VaultError.damaged(.manifest)) { try sample.verify(forged) }
    }

    @Test("a box opens only with its own unencrypted part, whatever the manifest lists")
    func associatedData() throws {
        // Anyone who has the vault key can write any manifest, so this check only finds our own
        // bugs.
        let sample = try Sample()
        let state = try VaultState(verifying: sample.document, with: sample.key)
        let record = state.records[2]
        let access = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        let line = RecordLine(
            id: record.line.id, revision: record.line.revision, accessControl: access)
        let moved = VaultState.Record(line: line, listed: record.listed, body: record.body)
        #expect(throws: VaultError.damaged(.record(record.line.id))) {
            try moved.content(with: sample.key)
        }
        #expect(throws: Never.self) { try record.content(with: sample.key) }
    }
}
