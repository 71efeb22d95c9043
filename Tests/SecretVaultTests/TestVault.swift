import Devices
import Foundation
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// A vault in its own folder, with a passphrase that is cheap to try.
final class TestVault {
    let folder: TemporaryFolder
    let path: String
    let recoveryKey: RecoveryKey?

    static let passphrase = secret("correct horse battery staple")
    static let now: Int64 = 1_795_000_000

    /// The names of the files that exist after a vault was opened and saved.
    static let files = [
        counted("attempts"), counted("attempts.lock"), counted("presence.lock"),
        own("generation"), own("lock"), own("previous"), own("slots"), "vault",
    ]

    /// The relative path of one of the program's files for the vault file.
    static func own(_ name: String) -> String { ".watchword/by-name/vault/" + name }

    /// The path of a file that counts attempts, with `ID` in place of the vault's ID.
    static func counted(_ name: String) -> String { ".watchword/by-id/ID/" + name }

    /// The path of a file that counts attempts at the vault.
    func counted(_ name: String) throws -> String {
        VaultLocation.path(
            of: name,
            in: VaultLocation.attemptsParts(try VaultDocument(parsing: bytes()).vaultID))
    }

    /// The files in the vault's folder and its subfolders, with `ID` in place of the vault's ID.
    func files() throws -> [String] { try TestVault.files(in: folder) }

    static func files(in folder: TemporaryFolder) throws -> [String] {
        try #require(FileManager.default.enumerator(atPath: folder.path))
            .compactMap { $0 as? String }
            .filter { try FileKind(at: folder.file($0), following: false) != .folder }
            .map { path in
                var parts = path.split(separator: "/")
                if parts.starts(with: [".watchword", "by-id"]) { parts[2] = "ID" }
                return parts.joined(separator: "/")
            }
            .sorted()
    }

    init(recoveryKey: Bool = false, logN: Int = 10) throws {
        folder = try TemporaryFolder()
        path = folder.file("vault")
        self.recoveryKey = recoveryKey ? RecoveryKey.make() : nil
        try Vault.create(
            at: path, passphrase: TestVault.passphrase, cost: #require(ScryptCost(logN: logN)),
            recoveryKey: self.recoveryKey, now: TestVault.now)
    }

    func unlock() throws(VaultError) -> UnlockedVault {
        try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
    }

    func expectRefusal(by passphrase: SecretBytes = secret("wrong")) {
        #expect(throws: VaultError.wrongPassphrase) {
            try Vault.unlock(at: path, with: .passphrase(passphrase))
        }
    }

    /// Adds an entry of each kind, with one save for each.
    func fill() throws -> [RecordID] {
        let vault = try unlock()
        return try TestVault.contents().map { content in
            try vault.change { try $0.add(content, now: TestVault.now) }
        }
    }

    /// One entry of each kind.
    static func contents() throws -> [EntryContent] {
        [
            .oneTimePassword(
                try Credential(
                    issuer: "GitHub", account: "alice@example.com",
                    key: secret("12345678901234567890"),
                    otherParameters: [.init(name: "image", value: "https://example.com/a.png")])),
            .oneTimePassword(
                try Credential(
                    issuer: "Bänk", account: "", key: secret("another key of a bank"),
                    algorithm: .sha512, style: .decimal(.eight), movingFactor: .counter(41))),
            .plainSecret(issuer: "Wi-Fi", account: "home", value: secret("a plain password")),
            .enrolledSecret(issuer: "shop", account: "alice", value: secret("wws_what it says")),
        ]
    }

    func bytes() throws -> [UInt8] { try folder.bytes(of: "vault") }

    /// The attempts that are counted beside the vault.
    func attempts() throws -> Attempts {
        try Attempts.read(VaultLocation(path), of: VaultDocument(parsing: bytes()).vaultID)
    }

    /// Records enough failed checks of these entries that they must be wiped, if they are set to be
    /// wiped.
    func countFailures(of ids: Set<RecordID>) throws {
        let document = try VaultDocument(parsing: bytes())
        let counter = try AttemptCounter(VaultLocation(path), of: document.vaultID)
        var attempts = try counter.read()
        for line in document.records where ids.contains(line.id) {
            guard case .wipe = line.accessControl.onFailure else { continue }
            while !attempts.isDue(line, by: document.slotsDigest) {
                attempts = attempts.deciding(
                    line.subject, .refused(by: document.slotsDigest), at: .now())
            }
        }
        try counter.save(attempts)
    }

    /// Replaces the vault file, with the owner's permissions.
    func put(_ bytes: [UInt8], as name: String = "vault") throws {
        try TestVault.put(bytes, as: name, in: folder)
    }

    /// Writes a file in a folder, with the program's permissions.
    static func put(_ bytes: [UInt8], as name: String, in folder: TemporaryFolder) throws {
        let path = URL(filePath: folder.file(name)).deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try folder.write(bytes, to: name)
        try setMode(0o600, of: folder.file(name))
    }
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8).span) }

extension SecretBytes {
    /// A secret with known bytes.
    var copied: [UInt8] { withBytes { [UInt8](copying: $0) } }
}

extension UnlockedVault {
    /// Opens an entry with the presence that unlocking proved.
    func open(_ id: RecordID) throws(VaultError) -> EntryContent {
        try open(id, proof: proofOfUnlocking(for: id))
    }

    /// Changes the vault like `update(_:)`; the closure does not have to declare its error type.
    @discardableResult func change<Result>(
        _ change: (inout VaultChanges) throws -> Result
    ) throws(VaultError) -> Result {
        try update { changes throws(VaultError) in
            do {
                return try change(&changes)
            } catch let error as VaultError {
                throw error
            } catch {
                preconditionFailure("a change throws only the vault's errors")
            }
        }
    }

    /// Proves presence, or throws the reason for the failure.
    func proof<Check: PresenceCheck>(
        _ check: inout Check, for id: RecordID,
        reading: @autoclosure () -> ClockReading = .now(), now: @autoclosure () -> Moment = .now
    ) throws(NoProof<Check.Failure>) -> PresenceProof<Check.Grade>
    where Check.Failure: Equatable {
        let outcome: PresenceOutcome<Check>
        do {
            outcome = try prove(&check, for: id, words: "test", reading: reading(), now: now())
        } catch {
            throw .vault(error)
        }
        switch consume outcome {
        case .proved(let proof): return proof
        case .refused(let cost): throw .refused(cost)
        case .undecided(let failure): throw .check(failure)
        }
    }
}

/// The reason why a check yielded no proof.
enum NoProof<Failure: Error & Equatable>: Error, Equatable {
    /// The vault did not allow the check, or could not record its outcome.
    case vault(VaultError)
    case refused(RefusalCost)
    case check(Failure)
}

/// The comparable content of an entry, including its secret.
struct Facts: Equatable {
    let kind: EntryKind
    let issuer: String
    let account: String
    let secret: [UInt8]
    var algorithm: HashAlgorithm?
    var style: CodeStyle?
    var movingFactor: MovingFactor?
    var parameters: [Credential.Parameter] = []
    var pin: [UInt8]?

    init(_ content: EntryContent) {
        kind = content.kind
        issuer = content.issuer
        account = content.account
        switch content {
        case .oneTimePassword(let credential):
            secret = credential.key.copied
            algorithm = credential.algorithm
            style = credential.style
            movingFactor = credential.movingFactor
            parameters = credential.otherParameters
        case .plainSecret(_, _, let value), .enrolledSecret(_, _, let value):
            secret = value.copied
        case .uncomputed(let code):
            secret = code.secret.copied
            pin = code.pin?.copied
        }
    }
}

extension TestVault {
    /// The sealed box of an entry, as stored in the file.
    func box(of id: RecordID) throws -> String {
        let document = try VaultDocument(parsing: bytes())
        let index = try #require(document.records.firstIndex { $0.id == id })
        guard case .sealed(let box) = document.bodies[index] else { throw VaultError.wiped }
        return String(decoding: box, as: UTF8.self)
    }

    /// The files that contain the text.
    func holders(of box: String) throws -> [String] {
        try files().filter { !$0.contains("/ID/") }.filter { name in
            String(decoding: try folder.bytes(of: name), as: UTF8.self).contains(box)
        }
    }

    /// The clocks at the last failure of the vault.
    func readingOfFailure() throws(VaultError) -> ClockReading {
        do {
            let failures = try #require(try attempts().vault)
            return ClockReading(
                seen: failures.start.wall, boot: failures.start.boot,
                uptime: failures.start.uptime)
        } catch {
            throw .noSuchEntry
        }
    }
}

extension UnlockedVault {
    /// This vault as a ``VaultCopy``, for a merge into another of its files.
    var asCopy: VaultCopy { VaultCopy(state: state, key: key) }
}
