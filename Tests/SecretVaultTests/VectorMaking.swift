import Cryptography
import Foundation
import OneTimePassword
import TestSupport
import Testing

@testable import SecretVault

private let newVectorsFolder = ProcessInfo.processInfo.environment["WATCHWORD_NEW_VECTORS"]

/// Generates files for `Vectors/vault`; it also generated the existing ones.
///
/// A new version of the format adds files, and never regenerates the old ones.
@Suite(.enabled(if: newVectorsFolder != nil, "WATCHWORD_NEW_VECTORS is not set"))
struct VectorMaking {
    @Test("new vectors are written to the folder that WATCHWORD_NEW_VECTORS names")
    func make() throws {
        var vectors: [VaultVector] = []
        try vectors.append(vector("empty-v1", TestVault()))
        let all = try TestVault(recoveryKey: true)
        _ = try all.fill()
        try fillOdd(all)
        try vectors.append(vector("every-kind-v1", all))
        let wiped = try TestVault()
        try TombstoneTests.wipe(try wiped.fill()[3], in: wiped)
        try vectors.append(vector("tombstone-v1", wiped))
        try vectors.append(vector("access-control-v1", accessControl()))
        let listed = try TestVault()
        try TombstoneTests.wipe(try listed.fill()[3], in: listed)
        _ = try listed.unlock()
        try vectors.append(vector("listed-tombstone-v1", listed))
        try vectors.append(vector("slots-v1", slots()))
        try vectors.append(vector("later-slot-v1", laterSlot()))
        try vectors.append(vector("rekeyed-v1", rekeyed()))
        try vectors.append(vector("third-generation-v1", thirdGeneration()))
        try vectors.append(vector("attempts-v1", attempts()))
        let file = [
            "source":
                "made once by VectorMaking; opened by every version, and by Scripts/read-vault.py"
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let cases = String(decoding: try encoder.encode(vectors), as: UTF8.self)
        let text = "{\n\"source\" : \"\(file["source"] ?? "")\",\n\"cases\" : \(cases)\n}\n"
        try Data(text.utf8).write(to: url("vaults.json"))
    }

    private func url(_ name: String) -> URL {
        URL(filePath: newVectorsFolder ?? "").appending(path: name)
    }

    private func vector(_ name: String, _ vault: TestVault) throws -> VaultVector {
        let bytes = try vault.bytes()
        try Data(bytes).write(to: url(name + ".vault"))
        let document = try VaultDocument(parsing: bytes)
        let (key, _) = try document.key(with: .passphrase(TestVault.passphrase), ceiling: 20)
        let state = try VaultState(verifying: document, with: key)
        let attempts = try vault.attempts()
        if !attempts.isEmpty {
            try Data(vault.folder.bytes(of: vault.counted("attempts"))).write(
                to: url(name + ".vault.attempts"))
        }
        return VaultVector(
            file: name + ".vault",
            passphrase: String(decoding: TestVault.passphrase.copied, as: UTF8.self),
            recoveryKey: try vault.recoveryKey.map {
                String(decoding: try $0.text().copied, as: UTF8.self)
            },
            holds: try VaultFacts(state, key: key, attempts: attempts))
    }

    private func fillOdd(_ vault: TestVault) throws {
        let steam = try Credential(
            issuer: "Steam", account: "gordon", key: secret("steam's twenty bytes"), style: .steam)
        let odd = try Credential(
            issuer: "", account: "日本語 🔑", key: secret("k"), algorithm: .sha256,
            style: .decimal(CodeLength(digits: 10)),
            movingFactor: .time(TimeStep(period: 86_400, start: -5)),
            otherParameters: [.init(name: "a", value: ""), .init(name: "ü", value: "=&?")])
        let last = try Credential(
            issuer: "counter", account: "", key: secret(String(repeating: "x", count: 200)),
            style: .decimal(CodeLength(digits: 1)), movingFactor: .counter(.max))
        let access = AccessControl(presence: .perUse(.any), onFailure: .wipe(after: .three))
        try vault.unlock().update { changes throws(VaultError) in
            try changes.add(.oneTimePassword(steam), now: 1)
            try changes.add(.oneTimePassword(odd), accessControl: access, now: 2)
            try changes.add(.oneTimePassword(last), now: 3)
            try changes.add(
                .plainSecret(
                    issuer: "bytes", account: "all", value: SecretBytes(copying: Self.all.span)),
                now: 4)
            try changes.add(
                .plainSecret(
                    issuer: "none", account: "", value: SecretBytes(copying: [UInt8]().span)),
                now: 5)
        }
    }

    private static let all = [UInt8](0...255)

    private func accessControl() throws -> TestVault {
        let vault = try TestVault()
        try vault.unlock().update { changes throws(VaultError) in
            for check in AccessControl.Check.allCases {
                try changes.add(
                    .plainSecret(issuer: check.rawValue, account: "", value: secret("s")),
                    accessControl: AccessControl(presence: .perUse(check), onFailure: .lockOut),
                    now: 1)
            }
        }
        return vault
    }

    private func slots() throws -> TestVault {
        let vault = try TestVault(recoveryKey: true)
        let cost = try ScryptCost(logN: 11)
        let open = try vault.unlock()
        try open.update { changes throws(VaultError) in
            try changes.addPassphrase(secret("another passphrase"), cost: cost, now: 8)
            try changes.add(
                .plainSecret(issuer: "one", account: "entry", value: secret("s")), now: 9)
        }
        return vault
    }

    private func laterSlot() throws -> TestVault {
        let vault = try TestVault()
        try FutureSlot(number: 4).add(to: vault)
        return vault
    }

    private func rekeyed() throws -> TestVault {
        let vault = try TestVault(recoveryKey: true)
        let ids = try vault.fill()
        try TombstoneTests.wipe(ids[3], in: vault)
        try vault.unlock().update { changes throws(VaultError) in try changes.rekey() }
        return vault
    }

    private func thirdGeneration() throws -> TestVault {
        let vault = try TestVault()
        let open = try vault.unlock()
        let ids = try open.update { changes throws(VaultError) in
            try (0..<3).map { number throws(VaultError) in
                try changes.add(TestVault.counting(from: UInt64(number)), now: 1)
            }
        }
        try open.update { changes throws(VaultError) in
            _ = try changes.advanceCounter(of: ids[1])
            try changes.remove(ids[0], purge: false)
        }
        return vault
    }

    private func attempts() throws -> TestVault {
        let vault = try TestVault()
        let ids = try vault.fill()
        let document = try VaultDocument(parsing: vault.bytes())
        let boot = [UInt8](repeating: 0xA5, count: 16)
        let now = ClockReading(wall: 1_795_000_000, boot: boot, uptime: 86_400)
        // An older copy of the vault refused two of the attempts.
        let older = SlotsDigest([UInt8](repeating: 0x5A, count: SlotsDigest.count))
        var attempts = Attempts(of: document.vaultID)
        for subject in [Attempts.Subject.vault, .record(ids[1], revision: 3)] {
            for _ in 0..<5 {
                attempts.addRefusal(of: subject, by: document.slotsDigest, at: now)
            }
            for _ in 0..<2 { attempts.addRefusal(of: subject, by: older, at: now) }
        }
        attempts.addRefusal(of: .record(ids[3], revision: 5), by: older, at: now)
        attempts.vault = .beginning(after: attempts.vault, at: now)
        // The slot that was written last has the greater counts.
        var bytes = try AttemptsFile.holding(Attempts(of: document.vaultID))
        let change = try AttemptsFile(reading: bytes, of: document.vaultID).writing(attempts)
        let end = change.offset + change.bytes.count
        bytes.replaceSubrange(change.offset..<end, with: change.bytes)
        try vault.put(bytes, as: vault.counted("attempts"))
        return vault
    }
}
