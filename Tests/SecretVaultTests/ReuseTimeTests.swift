import Devices
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Tests of how long a successful check may be reused.
struct ReuseTimeTests {
    private func access(
        _ seconds: Int, _ presence: AccessControl.Presence = .perUse(.any)
    ) throws -> AccessControl {
        AccessControl(
            presence: presence, onFailure: .lockOut, reuse: try #require(ReuseTime(seconds)))
    }

    /// A vault with one entry with this reuse time.
    private func vault(_ seconds: Int) throws -> (TestVault, RecordID) {
        let vault = try TestVault()
        let access = try access(seconds)
        let id = try vault.unlock().update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "Wi-Fi", account: "", value: secret("s")),
                accessControl: access, now: 1)
        }
        return (vault, id)
    }

    @Test(
        "a reuse time is 0 to 300 seconds; an entry without a check at each use has no reuse time")
    func values() throws {
        #expect([-1, 0, 1, 300, 301].map { ReuseTime($0)?.seconds } == [nil, 0, 1, 300, nil])
        #expect(try access(60).reuse.seconds == 60)
        #expect(try access(60, .perUnlock).reuse == .none)
    }

    @Test("a vault with a reuse time has format 3, and returns to format 2 without one")
    func formats() throws {
        let (vault, id) = try vault(300)
        func firstLine() throws -> String {
            String(decoding: try vault.bytes().prefix { $0 != 0x0a }, as: UTF8.self)
        }
        #expect(try firstLine() == "watchword-vault 3")
        #expect(try vault.unlock().entries.map(\.accessControl) == [access(300)])
        let shorter = try access(1)
        try vault.unlock().change { try $0.setAccessControl(of: id, to: shorter, now: 2) }
        #expect(try firstLine() == "watchword-vault 3")
        #expect(try vault.unlock().entries.map(\.accessControl.reuse.seconds) == [1])
        let none = try access(0)
        try vault.unlock().change { try $0.setAccessControl(of: id, to: none, now: 3) }
        #expect(try firstLine() == "watchword-vault 2")
        #expect(try vault.unlock().check().damages.isEmpty)
    }

    @Test("a reuse time that was changed in the file, or is malformed, is refused")
    func tampered() throws {
        let (vault, _) = try vault(60)
        let whole = String(decoding: try vault.bytes(), as: UTF8.self)
        let word = "per-use,reuse:60"
        #expect(whole.contains(word))
        let changes: [(String, String, VaultError)] = [
            (word, "per-use,reuse:61", .damaged(.header)),
            (word, "per-use:pam,reuse:60", .damaged(.header)),
            (word, "per-use,reuse:0", .damaged(.line(5))),
            (word, "per-use,reuse:060", .damaged(.line(5))),
            (word, "per-use,reuse:301", .damaged(.line(5))),
            (word, "per-use,reuse:", .damaged(.line(5))),
            (word, "per-use,reuse", .damaged(.line(5))),
            (word, "per-unlock,reuse:60", .damaged(.line(5))),
            (word, "per-use", .damaged(.line(1))),
            ("watchword-vault 3", "watchword-vault 2", .damaged(.line(1))),
        ]
        for (old, new, error) in changes {
            let text = whole.replacing(old, with: new, maxReplacements: 1)
            let body = text.split(separator: "\n").dropLast().map { "\($0)\n" }.joined()
            let bytes = Array(body.utf8)
            try vault.put(bytes + VaultEnvelope.lastLine(for: bytes[...]))
            #expect(throws: error, "\(new)") { try vault.unlock() }
        }
    }

    @Test("an earlier check opens an entry with a reuse time, unless a failure was counted since")
    func earlierCheck() throws {
        let (vault, id) = try vault(60)
        let open = try vault.unlock()
        _ = try open.open(id, proof: open.proofOfEarlierCheck(for: id))
        var wrong = OpenerCheck(.passphrase(secret("wrong")), of: open)
        #expect(throws: (any Error).self) { _ = try open.proof(&wrong, for: id) }
        #expect(throws: VaultError.presenceNeeded) { _ = try open.proofOfEarlierCheck(for: id) }
        var right = OpenerCheck(.passphrase(TestVault.passphrase), of: open)
        _ = try open.open(id, proof: open.proof(&right, for: id))
        _ = try open.open(id, proof: open.proofOfEarlierCheck(for: id))
        let (other, none) = try self.vault(0)
        let without = try other.unlock()
        #expect(throws: VaultError.presenceNeeded) {
            _ = try without.proofOfEarlierCheck(for: none)
        }
    }
}
