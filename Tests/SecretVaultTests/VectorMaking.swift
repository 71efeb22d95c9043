import Foundation
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

private let newVectorsFolder = ProcessInfo.processInfo.environment["WATCHWORD_NEW_VECTORS"]

/// Generates files for `Vectors/vault`, and the cases to add to `vaults.json`; this code also
/// generated the existing files.
///
/// A new version of the format adds files, and never regenerates the old ones.
@Suite(.enabled(if: newVectorsFolder != nil, "WATCHWORD_NEW_VECTORS is not set"))
struct VectorMaking {
    @Test("new vectors are written to the folder in WATCHWORD_NEW_VECTORS")
    func make() throws {
        var vectors: [VaultVector] = []
        try vectors.append(vector("empty-v2", TestVault()))
        let all = try TestVault(recoveryKey: true)
        _ = try all.fill()
        try fillOdd(all)
        try addDetails(all)
        try vectors.append(vector("every-kind-v2", all))
        let wiped = try TestVault()
        try TombstoneTests.wipe(try wiped.fill()[3], in: wiped)
        try vectors.append(vector("tombstone-v2", wiped))
        try vectors.append(vector("access-control-v2", accessControl()))
        let listed = try TestVault()
        try TombstoneTests.wipe(try listed.fill()[3], in: listed)
        _ = try listed.unlock()
        try vectors.append(vector("listed-tombstone-v2", listed))
        try vectors.append(vector("slots-v2", slots()))
        try vectors.append(vector("later-slot-v2", laterSlot()))
        try vectors.append(vector("rekeyed-v2", rekeyed()))
        try vectors.append(vector("third-generation-v2", thirdGeneration()))
        try vectors.append(vector("attempts-v2", attempts()))
        try vectors.append(vector("upgraded-v2", upgraded()))
        try vectors.append(vector("merged-v2", merged()))
        try vectors.append(
            vector("devices-v2", DeviceSlots.vault(), deviceSecret: DeviceSlots.secret.hex))
        try vectors.append(vector("reuse-v3", reuse()))
        try vectors.append(contentsOf: bound())
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

    private func vector(
        _ name: String, _ vault: TestVault, deviceSecret: String? = nil,
        on device: TestDevice? = nil
    ) throws -> VaultVector {
        let bytes = try vault.bytes()
        try Data(bytes).write(to: url(name + ".vault"))
        let document = try VaultDocument(parsing: bytes)
        let key = try document.opened(with: .passphrase(TestVault.passphrase), ceiling: 20).key
        var deviceKeys: [String: String]?
        if let device {
            let loaded = try device.unlock(vault).key.devices.keys()
            for device in loaded.values { try key.devices.attach(device) }
            deviceKeys = Dictionary(
                uniqueKeysWithValues: loaded.map { ($0.text, $1.secret.hex) })
        }
        let state = try VaultState(verifying: document, with: key)
        let attempts = try vault.attempts()
        if !attempts.isEmpty {
            try Data(vault.folder.bytes(of: vault.counted("attempts"))).write(
                to: url(name + ".vault.attempts"))
        }
        return VaultVector(
            file: name + ".vault",
            passphrase: String(decoding: TestVault.passphrase.copied, as: UTF8.self),
            recoveryKey: vault.recoveryKey.map {
                String(decoding: $0.text().copied, as: UTF8.self)
            },
            deviceSecret: deviceSecret, deviceKeys: deviceKeys,
            holds: try VaultFacts(state, key: key, attempts: attempts))
    }

    /// Vaults with bound entries: with an entry of each kind, for its device and for another
    /// device, and after a wipe and a rekey on another device.
    private func bound() throws -> [VaultVector] {
        let (vault, device) = (try TestVault(recoveryKey: true), try TestDevice())
        _ = try vault.fill()
        try addDetails(vault)
        let open = try vault.unlock()
        let keys = [
            try device.makeKey(.tpm, for: open, name: "Jörgs Rechner"),
            try device.makeKey(.file, for: open, name: "laptop"),
        ]
        let reuse = AccessControl(
            presence: .perUse(.pam), onFailure: .wipe(after: .three),
            reuse: try #require(ReuseTime(60)))
        try open.change { changes in
            for (place, entry) in changes.entries.enumerated() {
                try changes.bind(entry.id, to: keys[place % 2], now: TestVault.now + 3)
            }
            for (place, form) in [
                enrolledForm(generation: 7, isPresented: true), secret("of no form"),
            ].enumerated() {
                let content = EntryContent.enrolledSecret(
                    issuer: "enrolled", account: "\(place)", value: form)
                try changes.add(content, boundTo: keys[place], now: TestVault.now)
            }
            try changes.setAccessControl(of: changes.entries[2].id, to: reuse)
            try changes.add(
                .plainSecret(issuer: "not", account: "bound", value: secret("s")), now: 1)
        }
        let wiped = try BoundVault(bound: 2..<4)
        try TombstoneTests.wipe(wiped.ids[2], in: wiped.vault)
        let rekeyed = try BoundVault(bound: 1..<4)
        try rekeyed.elsewhere().change { try $0.rekey() }
        return [
            try vector("bound-v4", vault, on: device),
            try vector("bound-elsewhere-v4", BoundVault(bound: 0..<3).vault),
            try vector("bound-tombstone-v4", wiped.vault, on: wiped.device),
            try vector("bound-rekeyed-v4", rekeyed.vault, on: rekeyed.device),
        ]
    }

    private func fillOdd(_ vault: TestVault) throws {
        let steam = try Credential(
            issuer: "Steam", account: "gordon", key: secret("steam's twenty bytes"), style: .steam)
        let odd = try Credential(
            issuer: "", account: "日本語 🔑", key: secret("k"), algorithm: .sha256,
            style: .decimal(#require(CodeLength(digits: 10))),
            movingFactor: .time(#require(TimeStep(period: 86_400, start: -5))),
            otherParameters: [.init(name: "a", value: ""), .init(name: "ü", value: "=&?")])
        let last = try Credential(
            issuer: "counter", account: "", key: secret(String(repeating: "x", count: 200)),
            style: .decimal(#require(CodeLength(digits: 1))), movingFactor: .counter(.max))
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

    private func addDetails(_ vault: TestVault) throws {
        let details = EntryDetails(
            tags: ["work", "日本語", "Wörk", "Wo\u{308}rk"], note: "first line\nsecond line",
            icon: "github", isFavourite: true)
        let most = EntryDetails(
            tags: (0..<64).map { "tag \($0)" }, note: String(repeating: "n", count: 1000))
        let motp = UncomputedCode(
            kind: .motp, issuer: "Mobile", account: "otp", secret: secret("00aaBB11"),
            pin: secret("1234"))
        let yandex = UncomputedCode(
            kind: .yandex, issuer: "Yandex", account: "", secret: secret("sixteen bytes of"),
            pin: nil)
        let open = try vault.unlock()
        let id = try open.update { changes throws(VaultError) in
            try changes.add(.uncomputed(motp), details: details, now: 6)
            return try changes.add(.uncomputed(yandex), details: most, now: 7)
        }
        try open.update { changes throws(VaultError) in
            let first = changes.entries[0].id
            try changes.setDetails(of: first, to: details, now: TestVault.now + 1)
            try changes.rename(id, issuer: "Яндекс", account: "", now: TestVault.now + 2)
        }
    }

    /// A vault of format 1 that was changed once.
    private func upgraded() throws -> TestVault {
        let vault = try TestVault()
        let old = PackageFolder.root.appending(path: "Vectors/vault/third-generation-v1.vault")
        try vault.put([UInt8](try Data(contentsOf: old)))
        try vault.unlock().update { changes throws(VaultError) in
            let first = changes.entries[0].id
            try changes.setDetails(
                of: first, to: EntryDetails(tags: ["new"]), now: TestVault.now)
        }
        return vault
    }

    /// A vault and a copy with the same generation, each with an edit of the same entry; and the
    /// merged vault.
    private func merged() throws -> TestVault {
        let vault = try TestVault()
        let id = try vault.fill()[2]
        try vault.put(vault.bytes(), as: "copy")
        let path = vault.folder.file("copy")
        let copy = try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
        let open = try vault.unlock()
        for (vault, value) in [(open, "here"), (copy, "there")] {
            try vault.update { changes throws(VaultError) in
                try changes.replace(
                    id,
                    with: .plainSecret(issuer: "Wi-Fi", account: "home", value: secret(value)),
                    now: TestVault.now)
            }
        }
        let order: EnrolledOrder.Function = { (_, _) in .same }
        let plan = try open.planOfMerge(
            with: copy.asCopy, comparing: order, now: TestVault.now)
        try open.merge(
            plan, confirmed: [], comparing: order, now: TestVault.now)
        return vault
    }

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

    private func reuse() throws -> TestVault {
        let vault = try TestVault()
        let times = [1, 60, 300]
        try vault.unlock().update { changes throws(VaultError) in
            for (check, seconds) in zip(AccessControl.Check.allCases, times) {
                try changes.add(
                    .plainSecret(issuer: check.rawValue, account: "", value: secret("s")),
                    accessControl: AccessControl(
                        presence: .perUse(check), onFailure: .lockOut,
                        reuse: ReuseTime(seconds) ?? .none),
                    now: 1)
            }
            try changes.add(
                .plainSecret(issuer: "none", account: "", value: secret("s")), now: 1)
        }
        return vault
    }

    private func slots() throws -> TestVault {
        let vault = try TestVault(recoveryKey: true)
        let cost = try #require(ScryptCost(logN: 11))
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
        try vault.unlock().change { try $0.rekey() }
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
        var bytes = AttemptsFile.holding(Attempts(of: document.vaultID))
        let change = try AttemptsFile(reading: bytes, of: document.vaultID).writing(attempts)
        let end = change.offset + change.bytes.count
        bytes.replaceSubrange(change.offset..<end, with: change.bytes)
        try vault.put(bytes, as: vault.counted("attempts"))
        return vault
    }
}
