import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// A file in `Vectors/vault`, generated once and kept forever.
struct VaultVector: Codable, Sendable, CustomTestStringConvertible {
    let file: String
    let passphrase: String
    var recoveryKey: String?
    /// The secret that each slot of a device contains, in hexadecimal.
    var deviceSecret: String?
    /// The keys of devices to which records are bound, in hexadecimal, by their IDs.
    var deviceKeys: [String: String]?
    let holds: VaultFacts

    var testDescription: String { file }

    /// Gives a vault the keys of the devices.
    func attachDevices(to key: VaultKey) throws {
        for (id, secret) in deviceKeys ?? [:] {
            let device = DeviceKey(
                id: try #require(DeviceID(text: id)), name: "vector", binding: .file,
                secret: try SecretBytes(hex: secret))
            try key.devices.attach(#require(device))
        }
    }

    var url: URL { PackageFolder.root.appending(path: "Vectors/vault/\(file)") }
    /// The content of the attempts file beside the vault.
    func attempts(of vaultID: [UInt8]) throws -> Attempts {
        let path = url.path + ".attempts"
        guard FileManager.default.fileExists(atPath: path) else { return Attempts(of: vaultID) }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        return try AttemptsFile(reading: bytes, of: vaultID).attempts
    }

    private var deviceOpeners: [VaultOpener] {
        get throws {
            guard let hex = deviceSecret else { return [] }
            let bytes = try SecretBytes(hex: hex)
            let document = try VaultDocument(parsing: [UInt8](try Data(contentsOf: url)))
            return document.slots.filter { !$0.isPortable }
                .map { .device(bytes, of: SlotSummary($0)) }
        }
    }

    var openers: [VaultOpener] {
        get throws {
            let key = try recoveryKey.map { try RecoveryKey(parsing: secret($0)) }
            return [.passphrase(secret(passphrase))] + (key.map { [.recoveryKey($0)] } ?? [])
                + (try deviceOpeners)
        }
    }
}

struct VectorTests {
    static let vectors = Result { try VectorFile<VaultVector>("vault/vaults.json").cases }

    @Test(
        "every vault in Vectors opens with its original content",
        arguments: try vectors.get())
    func opens(vector: VaultVector) throws {
        let bytes = [UInt8](try Data(contentsOf: vector.url))
        let document = try VaultDocument(parsing: bytes)
        for opener in try vector.openers {
            let key = try document.opened(with: opener, ceiling: 24).key
            try vector.attachDevices(to: key)
            let state = try VaultState(verifying: document, with: key)
            let attempts = try vector.attempts(of: state.vaultID)
            let facts = try VaultFacts(
                state, key: key, attempts: attempts, version: document.version)
            #expect(facts == vector.holds)
            // Only the version, the manifest's nonce and the MAC, which covers both, may differ in
            // a rewritten file.
            let again = String(decoding: try state.written(with: key), as: UTF8.self)
            let old = String(decoding: bytes, as: UTF8.self)
            #expect(again.hasPrefix("watchword-vault \(max(document.version, 2))\n"))
            let isRewritten = document.version > 1
            #expect((macLine(again) == macLine(old)) == isRewritten)
            #expect(lines(again) == lines(old))
        }
        #expect(throws: VaultError.wrongPassphrase) {
            try document.opened(with: .passphrase(secret(vector.passphrase + " ")), ceiling: 24)
        }
    }

    private func lines(_ text: String) -> [Substring] {
        let changing = ["watchword-vault ", "mac ", "manifest ", "end "]
        return text.split(separator: "\n").filter { line in
            !changing.contains { line.hasPrefix($0) }
        }
    }

    private func macLine(_ text: String) -> Substring? {
        text.split(separator: "\n").first { $0.hasPrefix("mac ") }
    }

    @Test(
        "every vault in Vectors can be changed and saved", arguments: try vectors.get())
    func saves(vector: VaultVector) throws {
        let folder = try TemporaryFolder()
        try folder.write([UInt8](try Data(contentsOf: vector.url)), to: "vault")
        try setMode(0o600, of: folder.file("vault"))
        let opener = try vector.openers[0]
        let vault = try Vault.unlock(at: folder.file("vault"), with: opener)
        try vault.update { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: "new", account: "", value: secret("x")), now: 0)
        }
        let again = try Vault.unlock(at: folder.file("vault"), with: opener)
        #expect(again.generation == vector.holds.generation + 1)
        #expect(again.entries.map(\.issuer) == vector.holds.entries.map(\.issuer) + ["new"])
        #expect(
            again.entries.map(\.details.tags)
                == vector.holds.entries.map { $0.tags ?? [] } + [[]])
        let entries = vector.holds.entries
        let isBound = entries.contains { $0.device != nil }
        let version = isBound ? 4 : entries.contains { $0.reuse != nil } ? 3 : 2
        #expect(try folder.bytes(of: "vault").starts(with: "watchword-vault \(version)\n".utf8))
        #expect(again.slots.count == vector.holds.slots.count)
        #expect(try again.check().damages.isEmpty)
    }
}

/// Runs `Scripts/read-vault.py`, which was written from the format's documentation alone.
@Suite(
    .enabled(
        if: ForeignProgram.canReadIndependently, "python3 or its package cryptography is missing"))
struct SecondReaderTests {
    @Test(
        "the second reader finds the same content in every vault in Vectors",
        arguments: try VectorTests.vectors.get())
    func vectors(vector: VaultVector) throws {
        let path = vector.url.path
        let attempts = path + ".attempts"
        let facts = try SecondReader.read(
            path, attempts: attempts, passphrase: vector.passphrase,
            deviceKeys: vector.deviceKeys)
        #expect(facts == vector.holds)
        if let recoveryKey = vector.recoveryKey {
            #expect(
                try SecondReader.read(
                    path, attempts: attempts, recoveryKey: recoveryKey,
                    deviceKeys: vector.deviceKeys) == vector.holds)
        }
    }

    @Test("the second reader finds the same content in a new vault")
    func fresh() throws {
        let vault = try TestVault(recoveryKey: true)
        let ids = try vault.fill()
        try vault.unlock().change { try $0.remove(ids[1], purge: true) }
        try TombstoneTests.wipe(ids[3], in: vault)
        let document = try VaultDocument(parsing: vault.bytes())
        let key = try document.opened(with: .passphrase(TestVault.passphrase), ceiling: 24).key
        let state = try VaultState(verifying: document, with: key)
        let facts = try VaultFacts(state, key: key, attempts: vault.attempts())
        let passphrase = String(decoding: TestVault.passphrase.copied, as: UTF8.self)
        #expect(try SecondReader.read(vault.path, passphrase: passphrase) == facts)
        let written = String(decoding: vault.recoveryKey?.text().copied ?? [], as: UTF8.self)
        #expect(try SecondReader.read(vault.path, recoveryKey: written) == facts)
    }

    @Test("the second reader opens bound entries only with their device's key")
    func bound() throws {
        let bound = try BoundVault(bound: 1..<3)
        let passphrase = String(decoding: TestVault.passphrase.copied, as: UTF8.self)
        let (home, elsewhere) = (try bound.home(), try bound.elsewhere())
        let secret = try home.key.device(bound.key).secret.hex
        for (vault, keys) in [(home, [bound.key.text: secret]), (elsewhere, [:])] {
            let facts = try VaultFacts(
                vault.state, key: vault.key, attempts: bound.vault.attempts())
            #expect(
                try SecondReader.read(
                    bound.vault.path, passphrase: passphrase, deviceKeys: keys) == facts)
            #expect(facts.entries.map { $0.device == nil } == [true, false, false, true])
            #expect(facts.entries.filter { $0.secret == nil }.count == (keys.isEmpty ? 2 : 0))
        }
        // A wrong key under this ID is not mistaken for a missing key.
        let other = try SecondReader.run(
            bound.vault.path, passphrase: passphrase,
            options: ["--device-key", bound.key.text + ":" + String(repeating: "00", count: 32)])
        #expect(other.status == 3)
    }

    @Test(
        "the second reader hides secrets by default, and refuses a wrong passphrase or a flipped byte"
    )
    func refusals() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let passphrase = String(decoding: TestVault.passphrase.copied, as: UTF8.self)
        let hidden = try SecondReader.run(vault.path, passphrase: passphrase, options: [])
        #expect(hidden.status == 0 && !hidden.text.contains("secret\":"))
        #expect(try SecondReader.run(vault.path, passphrase: "other").status == 1)
        let bytes = try vault.bytes()
        for index in stride(from: 3, to: bytes.count, by: 211) {
            var flipped = bytes
            flipped[index] ^= 1
            try vault.put(flipped)
            #expect(try SecondReader.run(vault.path, passphrase: passphrase).status == 3)
        }
    }
}

enum SecondReader {
    static func read(
        _ path: String, attempts: String? = nil, passphrase: String? = nil,
        recoveryKey: String? = nil, deviceKeys: [String: String]? = nil
    ) throws -> VaultFacts {
        let outcome = try run(
            path, attempts: attempts, passphrase: passphrase, recoveryKey: recoveryKey,
            options: ["--reveal"]
                + (deviceKeys ?? [:]).flatMap { ["--device-key", "\($0):\($1)"] })
        try #require(outcome.status == 0, "\(String(decoding: outcome.errors, as: UTF8.self))")
        return try JSONDecoder().decode(VaultFacts.self, from: Data(outcome.output))
    }

    static func run(
        _ path: String, attempts: String? = nil, passphrase: String? = nil,
        recoveryKey: String? = nil, options: [String] = ["--reveal"]
    ) throws -> ForeignProgram.Outcome {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array("\(passphrase ?? recoveryKey ?? "")\n".utf8), to: "key")
        let script = PackageFolder.root.appending(path: "Scripts/read-vault.py").path
        let option = passphrase == nil ? "--recovery-key-file" : "--passphrase-file"
        return try #require(ForeignProgram("python3")).run(
            [script, path, option, file] + (attempts.map { ["--attempts", $0] } ?? [])
                + options)
    }
}
