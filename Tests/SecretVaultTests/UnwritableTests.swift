import Devices
import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// Vaults on full and read-only disks.
@Suite(.enabled(if: SmallDisk.canMount, "a small disk cannot be mounted here"))
struct UnwritableTests {
    private static let right = TestVault.passphrase
    private static let wrong = secret("wrong")

    private struct Mounted {
        let disk: SmallDisk
        let path: String
        let recoveryKey: RecoveryKey
        let ids: [RecordID]
    }

    /// A vault with an entry of each kind; the first is per-use.
    private func mounted() throws -> Mounted {
        let disk = try SmallDisk(bytes: 256 << 10)
        let path = disk.file("vault")
        let recoveryKey = RecoveryKey.make()
        try Vault.create(
            at: path, passphrase: Self.right, cost: .lowest, recoveryKey: recoveryKey,
            now: 0)
        let perUse = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        let ids = try Vault.unlock(at: path, with: .passphrase(Self.right)).update {
            changes throws(VaultError) in
            let contents: [EntryContent]
            do { contents = try TestVault.contents() } catch { throw .noSuchEntry }
            return try contents.enumerated().map { index, content throws(VaultError) in
                try changes.add(content, accessControl: index == 0 ? perUse : nil, now: 0)
            }
        }
        return Mounted(
            disk: disk, path: path, recoveryKey: recoveryKey, ids: ids)
    }

    private func unlock(
        _ vault: Mounted, _ passphrase: SecretBytes, mode: UnlockMode = .listingWipes
    ) throws(VaultError) -> UnlockedVault {
        try Vault.unlock(at: vault.path, with: .passphrase(passphrase), mode: mode)
    }

    @Test("on a full disk, failures are counted, the right passphrase works, and a wipe succeeds")
    func fullDisk() throws {
        let vault = try mounted()
        try vault.disk.fillUp()
        #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, Self.wrong) }
        #expect(try Vault.lockOut(at: vault.path).failures == 1)
        let open = try unlock(vault, Self.right)
        #expect(open.reports.isEmpty)
        #expect(try Vault.lockOut(at: vault.path).failures == 0)
        // Each failed check for a use is also counted.
        var no = Refusing()
        #expect(throws: NoProof<Never>.refused(.free(left: LockOutPolicy.failuresUntilWait - 2))) {
            _ = try open.proof(&no, for: vault.ids[0])
        }
        #expect(try open.lockOut(of: vault.ids[0]).failures == 1)
        // Three failures wipe the enrolled secret.
        for _ in 0..<3 {
            #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, Self.wrong) }
        }
        let wiped = try unlock(vault, Self.right)
        #expect(wiped.entries.map { $0.tombstone != nil } == [false, false, false, true])
    }

    @Test("on a full disk, a vault still opens although its generation cannot be recorded")
    func unrecorded() throws {
        let vault = try mounted()
        try removeFile(vault.disk.file(TestVault.own("generation")))
        try vault.disk.fillUp()
        #expect(try unlock(vault, Self.right).reports.isEmpty)
    }

    @Test("on a full disk, failures in an older file erase no previous generation of the vault")
    func olderFileOnFullDisk() throws {
        let vault = try mounted()
        let folder = vault.disk.folder
        let old = try folder.bytes(of: "vault")
        let open = try unlock(vault, Self.right)
        let cost = ScryptCost.lowest
        try open.update { changes throws(VaultError) in
            try changes.changePassphrase(
                of: changes.slots[0], to: secret("new"), cost: cost, now: 9)
        }
        try open.change { try $0.rename(vault.ids[2], issuer: "other", account: "") }
        try TestVault.put(old, as: "vault", in: folder)
        // With this record, failures in a file with different slots would cause no wipe.
        try removeFile(folder.file(TestVault.own("slots")))
        let previous = try folder.bytes(of: TestVault.own("previous"))
        try vault.disk.fillUp()
        for _ in 0..<2 {
            #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, Self.wrong) }
        }
        // The enrolled secret cannot be wiped, and no passphrase is tried before it is wiped.
        let full = VaultError.system(SystemCallFailure(call: "write", number: ENOSPC))
        #expect(throws: full) { try unlock(vault, Self.wrong) }
        #expect(throws: full) { try unlock(vault, Self.right) }
        #expect(try folder.bytes(of: TestVault.own("previous")) == previous)
    }

    @Test("--read-only opens a vault on a read-only disk, counts no failures and saves no changes")
    func readOnly() throws {
        let vault = try mounted()
        #expect(throws: VaultError.writable) { try unlock(vault, Self.right, mode: .readOnly) }
        #expect(throws: VaultError.writable) { try unlock(vault, Self.wrong, mode: .readOnly) }
        #expect(try Vault.lockOut(at: vault.path).failures == 0)
        try vault.disk.setReadOnly(true)
        let refusal = SystemCallFailure(call: "openat", number: EROFS)
        #expect(throws: VaultError.notCounted(refusal)) { try unlock(vault, Self.right) }
        for _ in 0..<9 {
            #expect(throws: VaultError.wrongPassphrase) {
                try unlock(vault, Self.wrong, mode: .readOnly)
            }
        }
        let open = try unlock(vault, Self.right, mode: .readOnly)
        #expect(open.reports == [.failuresNotCounted])
        #expect(try open.open(vault.ids[0]).issuer == "GitHub")
        var no = Refusing()
        #expect(throws: NoProof<Never>.refused(.notCounted)) {
            _ = try open.proof(&no, for: vault.ids[0])
        }
        #expect(throws: VaultError.openedReadOnly) {
            try open.change { try $0.remove(vault.ids[0], purge: false) }
        }
        #expect(throws: VaultError.openedReadOnly) { _ = try open.takeLoginLock() }
        let recovered = try Vault.unlock(
            at: vault.path, with: .recoveryKey(vault.recoveryKey), mode: .readOnly)
        #expect(recovered.entries.count == 4)
    }

    @Test("on a read-only disk, a vault stays locked out during a wait and while a wipe is due")
    func waiting() throws {
        let vault = try mounted()
        try unlock(vault, Self.right).update { changes throws(VaultError) in
            try changes.setAccessControl(of: vault.ids[3], to: .standard(for: .totp))
        }
        for _ in 0..<LockOutPolicy.failuresUntilWait {
            #expect(throws: VaultError.wrongPassphrase) { try unlock(vault, Self.wrong) }
        }
        try vault.disk.setReadOnly(true)
        let refusal = #expect(throws: VaultError.self) {
            try unlock(vault, Self.right, mode: .readOnly)
        }
        guard case .lockedOut(let seconds)? = refusal else {
            Issue.record("a vault opened during its wait")
            return
        }
        #expect((1...LockOutPolicy.firstWait).contains(seconds))
        // No passphrase is tried for an entry, either.
        let open = try Vault.unlock(
            at: vault.path, with: .recoveryKey(vault.recoveryKey), mode: .readOnly)
        var check = OpenerCheck(.passphrase(Self.right), of: open)
        do {
            _ = try open.proof(&check, for: vault.ids[0])
            Issue.record("a passphrase was tried during the wait")
        } catch {
            guard case .vault(.lockedOut) = error else { throw error }
        }
        try vault.disk.setReadOnly(false)
        // A process was killed after the third refusal, before the wipe.
        let other = try mounted()
        let id = try VaultDocument(parsing: other.disk.folder.bytes(of: "vault")).vaultID
        var attempts = Attempts(of: id)
        let slots = try VaultDocument(parsing: VaultLocation(other.path).read()).slotsDigest
        for _ in 0..<3 { attempts.addRefusal(of: .vault, by: slots, at: .now()) }
        try AttemptCounter(VaultLocation(other.path), of: id).save(attempts)
        try other.disk.setReadOnly(true)
        #expect(throws: VaultError.wipingDue) { try unlock(other, Self.right, mode: .readOnly) }
        let recovered = try Vault.unlock(
            at: other.path, with: .recoveryKey(other.recoveryKey), mode: .readOnly)
        #expect(throws: VaultError.wipingDue) { try recovered.open(other.ids[3]) }
        #expect(try recovered.open(other.ids[2]).issuer == "Wi-Fi")
    }

    @Test("on a read-only disk, an entry refuses a check that it does not accept")
    func weakCheck() throws {
        let vault = try mounted()
        let access = AccessControl(presence: .perUse(.passphrase), onFailure: .lockOut)
        try unlock(vault, Self.right).update { changes throws(VaultError) in
            try changes.setAccessControl(of: vault.ids[0], to: access)
        }
        try vault.disk.setReadOnly(true)
        let open = try unlock(vault, Self.right, mode: .readOnly)
        var yes = Accepting()
        #expect(throws: NoProof<Never>.vault(.differentCheckRequired)) {
            _ = try open.proof(&yes, for: vault.ids[0])
        }
    }

    @Test("on a read-only disk, no check opens an entry that is due to be wiped")
    func dueEntry() throws {
        let vault = try mounted()
        let access = AccessControl(presence: .perUse(.any), onFailure: .wipe(after: .three))
        try unlock(vault, Self.right).update { changes throws(VaultError) in
            try changes.setAccessControl(of: vault.ids[0], to: access)
        }
        // A process was killed after the third refusal, before the wipe.
        let document = try VaultDocument(parsing: vault.disk.folder.bytes(of: "vault"))
        var attempts = Attempts(of: document.vaultID)
        for _ in 0..<3 {
            attempts.addRefusal(
                of: document.records[0].subject, by: document.slotsDigest, at: .now())
        }
        try AttemptCounter(VaultLocation(vault.path), of: document.vaultID).save(attempts)
        try vault.disk.setReadOnly(true)
        let open = try Vault.unlock(
            at: vault.path, with: .recoveryKey(vault.recoveryKey), mode: .readOnly)
        #expect(throws: VaultError.wipingDue) { try open.open(vault.ids[0]) }
        var yes = Accepting()
        #expect(throws: NoProof<Never>.vault(.wipingDue)) {
            _ = try open.proof(&yes, for: vault.ids[0])
        }
    }
}

/// A check that always fails.
struct Refusing: PresenceCheck {
    typealias Grade = Advisory

    mutating func isPresent(for purpose: String) -> Bool { false }
}

/// A check that always passes.
private struct Accepting: PresenceCheck {
    typealias Grade = Advisory

    mutating func isPresent(for purpose: String) -> Bool { true }
}

/// Clocks and permissions that an unprivileged user can change.
struct ShiftedTests {
    private static let canShift: Bool = {
        do {
            let options = ["-UrT", "--boottime", "999999", "true"]
            return try ForeignProgram("unshare")?.run(options).status == 0
        } catch {
            return false
        }
    }()

    private func run(_ wrapper: [String], _ vault: TestVault, _ passphrase: String, _ rounds: Int)
        throws -> [String]
    {
        let command =
            wrapper + [
                BuiltProgram.path("vault-writer"), "try", vault.path, passphrase, "\(rounds)",
            ]
        return try #require(ForeignProgram(command[0])).run(Array(command.dropFirst())).text
            .split(separator: "\n").map(String.init)
    }

    private static let right = String(decoding: TestVault.passphrase.copied, as: UTF8.self)

    @Test(
        "a time namespace, which any user can create, does not shorten a wait",
        .enabled(if: canShift, "time namespaces cannot be created here"))
    func timeNamespace() throws {
        let vault = try TestVault()
        let failures = LockOutPolicy.failuresUntilWait
        let refused = Array(repeating: "wrongPassphrase", count: failures)
        #expect(try run(["env"], vault, "wrong", failures) == refused)
        for offset in ["999999", "\(LockOutPolicy.firstWait + 1)"] {
            let said = try run(
                ["unshare", "-UrT", "--boottime", offset], vault, Self.right, 1)
            #expect(said.count == 1 && said[0].hasPrefix("lockedOut(seconds: "))
        }
        #expect(try Vault.lockOut(at: vault.path).seconds > LockOutPolicy.firstWait / 2)
        // A wait that began in a time namespace does not end sooner outside it.
        let other = try TestVault()
        #expect(
            try run(["unshare", "-UrT", "--boottime", "999999"], other, "wrong", failures)
                == refused)
        #expect(try Vault.lockOut(at: other.path).seconds > LockOutPolicy.firstWait / 2)
    }

    @Test("a umask that removes all permissions still leaves every file private to its owner")
    func umask() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("new/vault")
        for words in [
            ["create", path, "", "0"], ["add", path, "a", "2"], ["try", path, Self.right, "1"],
        ] {
            let outcome = try ForeignProgram(path: "/bin/sh").run(
                ["-c", "umask 0777; exec \"$@\"", "sh", BuiltProgram.path("vault-writer")] + words)
            #expect(outcome.status == 0 && !outcome.text.contains("Failure"))
        }
        var kinds: Set<FileKind> = []
        for name in try #require(FileManager.default.enumerator(atPath: folder.path)) {
            let file = folder.file(try #require(name as? String))
            let kind = try FileKind(at: file, following: false)
            kinds.insert(kind)
            #expect(try mode(of: file) == (kind == .folder ? 0o700 : 0o600), "\(name)")
        }
        #expect(kinds == [.file, .folder])
    }
}
