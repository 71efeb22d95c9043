import Foundation
import Synchronization
import TestSupport
import Testing
import WatchwordSystem

@testable import SecretVault

/// A vault that was moved, and the data kept about it.
struct ReplacedCopyTests {
    private static let opener = VaultOpener.passphrase(TestVault.passphrase)

    private let presented = PresentedSecret(
        enrolment: [UInt8](repeating: 1, count: 16), generation: 3,
        digest: [UInt8](repeating: 2, count: 32))

    @Test("a newer copy replaces an older copy together with the data kept about it")
    func newer() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let folder = try TemporaryFolder()
        let path = folder.file("vault")
        try Vault.unpack(Vault.pack(vault.path), at: path)
        let open = try vault.unlock()
        try open.change { try $0.rename(ids[0], issuer: "renamed", account: "") }
        open.recordUse(of: ids[0], at: 10)
        try open.record(presented)
        #expect(throws: VaultError.wrongPassphrase) {
            try Vault.unlock(at: vault.path, with: .passphrase(secret("wrong")))
        }
        let newer = try Vault.pack(vault.path).opened(with: Self.opener, ceiling: 20)
        try Vault.replace(path, in: Vault.identity(at: path), with: newer)
        #expect(try folder.bytes(of: "vault") == vault.bytes())
        #expect(try Vault.lockOut(at: path).failures == 1)
        let there = try Vault.unlock(at: path, with: Self.opener)
        #expect(there.reports.isEmpty)
        #expect(there.lastUses == [ids[0]: 10])
        #expect(try there.lastPresented(of: presented.enrolment) == presented)
        #expect(try !TestVault.files(in: folder).contains(TestVault.own("previous")))
    }

    @Test("after a purge, the newest generation stays recorded, even if a save did not record it")
    func purged() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        open.recordUse(of: ids[0], at: 10)
        let older = try vault.bytes()
        let record = try vault.folder.bytes(of: TestVault.own("generation"))
        try open.change { try $0.remove(ids[0], purge: false) }
        try vault.put(record, as: TestVault.own("generation"))
        let generation = open.generation
        try Vault.purge(vault.path, in: Vault.identity(at: vault.path))
        // A process that still holds the vault leaves no files, either.
        open.recordUse(of: ids[1], at: 20)
        #expect(try vault.files() == ["generation", "lock"].map(TestVault.own))
        let counted = vault.folder.file(".watchword/by-id")
        #expect(try FileManager.default.contentsOfDirectory(atPath: counted).isEmpty)
        // A copy is restored.
        try vault.put(older)
        #expect(
            try vault.unlock().reports
                == [.olderFile(generation: generation - 1, newest: generation)])
    }

    @Test(
        "a purge during a check keeps the folder; a process waiting for it counts no attempt")
    func purgedMeanwhile() throws {
        let vault = try TestVault()
        let location = try VaultLocation(vault.path)
        let id = try VaultDocument(parsing: vault.bytes()).vaultID
        let lock = vault.folder.file(try vault.counted("attempts.lock"))
        let first = try AttemptCounter(location, of: id)
        let asked = try AskedPresence(location, of: id)
        try first.remove()
        _ = consume first
        #expect(FileManager.default.fileExists(atPath: lock))
        _ = consume asked
        let outcome = Mutex<[VaultError?]>([])
        let counter = try AttemptCounter(location, of: id)
        let thread = try #require(
            WorkerThread {
                do throws(VaultError) {
                    _ = try AttemptCounter(location, of: id)
                    outcome.withLock { $0.append(nil) }
                } catch {
                    outcome.withLock { $0.append(error) }
                }
            })
        // Two descriptors: the other thread has opened the lock, and waits for it.
        while try opened(lock) < 2 {}
        try counter.remove()
        _ = consume counter
        thread.join()
        #expect(outcome.withLock { $0 } == [.busy])
        #expect(!FileManager.default.fileExists(atPath: lock))
    }

    /// The number of descriptors of this process that refer to a file.
    private func opened(_ path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            let link = "/proc/self/fd/" + name
            // The descriptor may have been closed meanwhile.
            do {
                return try FileManager.default.destinationOfSymbolicLink(atPath: link) == path
            } catch {
                return false
            }
        }
    }

    @Test("a vault is not packed during a login, because the copy would lack the login's outcome")
    func login() throws {
        let vault = try TestVault()
        let turn = try vault.unlock().takeLoginLock()
        #expect(throws: VaultError.busy) { try Vault.pack(vault.path) }
        _ = consume turn
        _ = try Vault.pack(vault.path)
    }
}
