import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Vaults in the same folder, with names that the program uses or has used for its own files.
struct SeparateVaultsTests {
    private static let suffixes = [
        "", ".new", ".previous", ".previous.new", ".generation", ".generation.new", ".attempts",
        ".attempts.new", ".attempts.lock", ".presence.lock", ".lock", ".login.lock",
    ]
    private static let ownNames = [
        "new", "previous", "previous.new", "displaced", "generation", "generation.new", "attempts",
        "lock", "login.lock", "presence.lock", "by-name", "by-id",
    ]
    private static let passphrase = TestVault.passphrase

    private func make(_ path: String) throws {
        try Vault.create(
            at: path, passphrase: Self.passphrase, cost: .lowest, recoveryKey: nil,
            now: 0)
    }

    private func open(_ path: String) throws(VaultError) -> UnlockedVault {
        try Vault.unlock(at: path, with: .passphrase(Self.passphrase))
    }

    private func add(_ issuer: String, to path: String, purging: Bool = false) throws {
        try open(path).update { changes throws(VaultError) in
            let content = EntryContent.plainSecret(
                issuer: issuer, account: "", value: secret("of \(issuer)"))
            let id = try changes.add(content, now: 0)
            if purging { try changes.remove(id, purge: true) }
        }
    }

    @Test(
        "O-10 vaults named like the program's own files lose nothing when each is used in turn"
    )
    func names() throws {
        let folder = try TemporaryFolder()
        let paths = (Self.suffixes.map { "vault" + $0 } + Self.ownNames).map(folder.file)
        for path in paths { try make(path) }
        for round in ["first", "second", "third"] {
            for path in paths {
                #expect(throws: VaultError.wrongPassphrase) {
                    try Vault.unlock(at: path, with: .passphrase(secret("wrong")))
                }
                try add(round, to: path)
                try add("gone", to: path, purging: round == "second")
                let open = try open(path)
                _ = try open.takeLoginLock()
                for id in open.entries.filter({ $0.issuer == "gone" }).map(\.id) {
                    try open.change { try $0.remove(id, purge: true) }
                }
            }
        }
        for path in paths {
            let open = try open(path)
            #expect(open.entries.map(\.issuer) == ["first", "second", "third"], "\(path)")
            #expect(open.reports.isEmpty, "\(path)")
            #expect(try open.check().damages.isEmpty, "\(path)")
        }
    }

    @Test("O-10 no vault can be created in the program's own folder, whatever the case of its name")
    func reserved() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("vault")
        for name in [
            ".watchword", ".WatchWord", ".watchword/vault", "new/.watchword/deep/vault",
            ".watchword/by-name/vault/new",
        ] {
            #expect(throws: VaultError.reservedPath, "\(name)") { try make(folder.file(name)) }
        }
        #expect(try TestSupport.names(in: folder.path) == [])
        try make(path)
        try add("first", to: path)
        for name in ["new", "previous", "vault", "../../by-id/vault"] {
            let inside = folder.file(".watchword/by-name/vault/" + name)
            #expect(throws: (any Error).self) { try make(inside) }
        }
        try linkSymbolically(folder.file(".watchword/by-name/vault"), to: folder.file("link"))
        #expect(throws: VaultError.reservedPath) { try make(folder.file("link/other")) }
        try add("second", to: path)
        #expect(try open(path).entries.map(\.issuer) == ["first", "second"])
    }

    @Test("O-10 leftovers of another vault with the same name are never overwritten")
    func sameName() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let (current, previous) = (try vault.bytes(), TestVault.own("previous"))
        let kept = try vault.folder.bytes(of: previous)
        try removeFile(vault.path)
        #expect(throws: VaultError.previousLeft) { try make(vault.path) }
        #expect(throws: VaultError.previousLeft) { try Vault.requireUnusedPath(vault.path) }
        #expect(try TestSupport.names(in: vault.folder.path) == [".watchword"])
        // Another vault is moved to this path.
        let other = try TestVault()
        try vault.put(other.bytes())
        #expect(throws: VaultError.inTheWay(name: previous)) { try add("new", to: vault.path) }
        #expect(try vault.bytes() == other.bytes())
        #expect(try vault.folder.bytes(of: previous) == kept)
        try vault.put(current)
        #expect(try open(vault.path).entries.count == 4)
    }

    @Test("once the previous generation of a removed vault is moved away, a new vault can be made")
    func anew() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        try removeFile(vault.path)
        let previous = vault.folder.file(TestVault.own("previous"))
        try FileManager.default.moveItem(atPath: previous, toPath: vault.folder.file("old"))
        let reports = try Vault.create(
            at: vault.path, passphrase: Self.passphrase, cost: .lowest,
            recoveryKey: nil, now: 0)
        #expect(reports.isEmpty)
        try add("new", to: vault.path)
        #expect(try open(vault.path).reports.isEmpty)
    }

    @Test("O-10 the previous generation can be read, shares the failure count, and is not changed")
    func previousGeneration() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        try vault.unlock().change { try $0.setAccessControl(of: ids[3], to: .standard(for: .totp)) }
        try add("last", to: vault.path)
        let kept = vault.folder.file(TestVault.own("previous"))
        let before = try vault.folder.bytes(of: TestVault.own("previous"))
        #expect(try open(kept).entries.count == 4)
        #expect(try open(kept).reports.isEmpty)
        #expect(throws: VaultError.previousGeneration) { try add("new", to: kept) }
        for number in 0..<LockOutPolicy.failuresUntilWait {
            let path = number.isMultiple(of: 2) ? kept : vault.path
            #expect(throws: VaultError.wrongPassphrase) {
                try Vault.unlock(at: path, with: .passphrase(secret("wrong")))
            }
        }
        #expect(try vault.attempts().vault?.count == LockOutPolicy.firstFailureWithWait)
        let reading = try vault.readingOfFailure()
        #expect(throws: VaultError.lockedOut(seconds: LockOutPolicy.firstWait)) {
            try Vault.unlock(
                at: kept, with: .passphrase(Self.passphrase), reading: reading)
        }
        #expect(try vault.folder.bytes(of: TestVault.own("previous")) == before)
        // A copy and a renamed vault also share the failure count.
        for name in ["copy", "renamed"] {
            try vault.put(vault.bytes(), as: name)
            #expect(try Vault.lockOut(at: vault.folder.file(name)).failures == 5)
        }
    }

    @Test("O-10 names of up to 255 bytes are accepted", arguments: [200, 240, 254, 255])
    func longNames(count: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.file(String(repeating: "v", count: count))
        let neighbour = folder.file(String(repeating: "v", count: count - 1) + "w")
        for path in [path, neighbour] { try make(path) }
        for round in ["first", "second"] {
            for path in [path, neighbour] {
                try add(round, to: path)
                #expect(throws: VaultError.wrongPassphrase) {
                    try Vault.unlock(at: path, with: .passphrase(secret("wrong")))
                }
            }
        }
        for path in [path, neighbour] {
            let open = try open(path)
            #expect(open.entries.map(\.issuer) == ["first", "second"])
            #expect(try open.check().previous == .whole(generation: 2))
        }
    }
}
