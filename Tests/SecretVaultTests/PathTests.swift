import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// The kinds of file that may exist at a vault's path.
struct PathTests {
    static func unlock(_ path: String) throws(VaultError) -> UnlockedVault {
        try Vault.unlock(at: path, with: .passphrase(TestVault.passphrase))
    }

    @Test("no vault is found where there is no file, or not even a folder")
    func missing() throws {
        let folder = try TemporaryFolder()
        #expect(throws: VaultError.notFound) { try Self.unlock(folder.file("vault")) }
        #expect(throws: VaultError.notFound) { try Self.unlock(folder.file("none/vault")) }
        try folder.write([], to: "file")
        #expect(throws: VaultError.notFound) { try Self.unlock(folder.file("file/vault")) }
        #expect(try !Vault.isTaken(folder.file("none/vault")))
        #expect(try Vault.isTaken(folder.file("file")))
    }

    @Test("a folder is reported as a folder", arguments: ["", "/", "/.", "/.."])
    func folder(ending: String) throws {
        let folder = try TemporaryFolder()
        #expect(throws: VaultError.folder) { try Self.unlock(folder.path + ending) }
    }

    @Test("a symbolic link to a vault is not followed, and neither is a dangling link")
    func link() throws {
        let vault = try TestVault()
        for target in [vault.path, vault.folder.file("nothing")] {
            let path = vault.folder.file("link")
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: target)
            #expect(throws: VaultError.symbolicLink) { try Self.unlock(path) }
            #expect(throws: VaultError.alreadyExists) {
                try Vault.create(
                    at: path, passphrase: secret("x"), cost: .lowest,
                    recoveryKey: nil, now: 0)
            }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("creating a vault where there is a file leaves nothing beside it")
    func noLitter() throws {
        let folder = try TemporaryFolder()
        try folder.write([1], to: "notes")
        #expect(throws: VaultError.alreadyExists) {
            try Vault.create(
                at: folder.file("notes"), passphrase: secret("x"), cost: .lowest,
                recoveryKey: nil, now: 0)
        }
        #expect(try names(in: folder.path) == ["notes"])
    }

    @Test("a device and a named pipe are refused at once")
    func devices() throws {
        let folder = try TemporaryFolder()
        #expect(throws: VaultError.notAFile) { try Self.unlock("/dev/null") }
        #expect(unsafe mkfifo(folder.file("pipe"), 0o600) == 0)
        #expect(throws: VaultError.notAFile) { try Self.unlock(folder.file("pipe")) }
    }

    @Test("a file that other users can access is refused, and a private one is accepted")
    func modes() throws {
        let vault = try TestVault()
        for mode in [0o640, 0o604, 0o620, 0o602, 0o601, 0o666] {
            try setMode(mode, of: vault.path)
            #expect(throws: VaultError.openToOthers(mode: UInt32(mode))) {
                try vault.unlock()
            }
        }
        for mode in [0o600, 0o400, 0o700] {
            try setMode(mode, of: vault.path)
            #expect(throws: Never.self) { try vault.unlock() }
        }
    }

    @Test(
        "a file that a different user owns is refused",
        .enabled(if: geteuid() == 0, "only root can change the owner of files"))
    func owner() throws {
        let vault = try TestVault()
        #expect(unsafe chown(vault.path, 65_534, 65_534) == 0)
        #expect(throws: VaultError.otherOwner(65_534)) { try vault.unlock() }
        #expect(unsafe chown(vault.path, 0, 0) == 0)
        #expect(throws: Never.self) { try vault.unlock() }
    }

    @Test("a folder that other users can write to is reported, unless it is sticky")
    func folderModes() throws {
        let vault = try TestVault()
        for mode in [0o770, 0o720, 0o702, 0o777, 0o2775] {
            try setMode(mode, of: vault.folder.path)
            let report = VaultReport.folderOpenToOthers(mode: UInt32(mode))
            #expect(try vault.unlock().reports == [report])
            #expect(try vault.unlock().check().reports == [report])
        }
        let made = try Vault.create(
            at: vault.folder.file("second"), passphrase: secret("x"), cost: .lowest,
            recoveryKey: nil, now: 0)
        #expect(made == [.folderOpenToOthers(mode: 0o2775)])
        for mode in [0o755, 0o1777, 0o700] {
            try setMode(mode, of: vault.folder.path)
            #expect(try vault.unlock().reports.isEmpty)
        }
    }

    @Test(
        "a folder that a different user owns is reported",
        .enabled(if: geteuid() == 0, "only root can change the owner of folders"))
    func folderOwner() throws {
        let vault = try TestVault()
        #expect(unsafe chown(vault.folder.path, 65_534, 65_534) == 0)
        #expect(try vault.unlock().reports == [.folderOwnedByOther(65_534)])
        #expect(unsafe chown(vault.folder.path, 0, 0) == 0)
        #expect(try vault.unlock().reports.isEmpty)
    }

    @Test("an unrelated file, a truncated vault and a newer version cause different errors")
    func otherFiles() throws {
        let vault = try TestVault()
        let cases: [(String, VaultError)] = [
            ("", .truncated), ("watchword", .truncated), ("watchword-vault 1\n", .truncated),
            ("age-encryption.org/v1\n", .notAVault), ("{}", .notAVault), ("\0\0\0\0", .notAVault),
            ("watchword-vault 2\n", .truncated),
            ("watchword-vault 5\nwhatever", .newerVersion(5)),
            ("watchword-vault 10\n", .newerVersion(10)),
            ("watchword-vault 0\n", .damaged(.line(1))),
            ("watchword-vault 02\n", .damaged(.line(1))),
            ("watchword-vault 01\n", .damaged(.line(1))),
            ("watchword-vault 2", .truncated), ("watchword-vault 1", .truncated),
            ("watchword-vault 5", .damaged(.line(1))), ("watchword-vault 4", .truncated),
            ("watchword-vault \n", .damaged(.line(1))),
            ("watchword-vault 99999999999999999999\n", .damaged(.line(1))),
        ]
        for (text, error) in cases {
            try vault.put(Array(text.utf8))
            #expect(throws: error, "\(text)") { try vault.unlock() }
        }
    }

    @Test("a file over 64 MiB is not read, and no memory is allocated for it")
    func tooLarge() throws {
        let vault = try TestVault()
        // A sparse file takes no disk space.
        #expect(unsafe truncate(vault.path, (64 << 20) + 1) == 0)
        #expect(throws: VaultError.tooLarge) { try vault.unlock() }
    }

    @Test("a slot that costs more than the ceiling is not tried, and a slot at the ceiling is")
    func ceiling() throws {
        let vault = try TestVault()
        #expect(throws: VaultError.costOverCeiling(logN: 10, ceiling: 9)) {
            try Vault.unlock(at: vault.path, with: .passphrase(TestVault.passphrase), ceiling: 9)
        }
        #expect(throws: Never.self) {
            try Vault.unlock(at: vault.path, with: .passphrase(TestVault.passphrase), ceiling: 10)
        }
        let sample = try TamperingTests.Sample()
        for (logN, error) in [
            ("25", VaultError.costOverCeiling(logN: 25, ceiling: 20)),
            ("63", .costOverCeiling(logN: 63, ceiling: 20)), ("64", .damaged(.line(4))),
            ("9", .damaged(.line(4))),
        ] {
            let forged = try sample.forged { lines in
                lines[3] = lines[3].replacing(" 10 8 1 ", with: " \(logN) 8 1 ")
            }
            try sample.vault.put(forged)
            #expect(throws: error) { try sample.vault.unlock() }
            // The recovery key's slot has no cost.
            let key = try #require(sample.vault.recoveryKey)
            let expected: VaultError = error == .damaged(.line(4)) ? error : .damaged(.header)
            #expect(throws: expected) {
                try Vault.unlock(at: sample.vault.path, with: .recoveryKey(key))
            }
        }
    }
}
