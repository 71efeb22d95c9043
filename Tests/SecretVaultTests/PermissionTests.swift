import Foundation
import TestSupport
import Testing
import WatchwordSystem

@testable import SecretVault

struct PermissionTests {
    private func mode(_ name: String, in vault: TestVault) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: vault.folder.file(name))
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test("the permissions of a vault that was copied by git are corrected, and it opens")
    func corrected() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        #expect(try Vault.exposure(at: vault.path) == nil)
        let attempts = try vault.counted("attempts")
        let linked = TestVault.own("linked")
        try vault.put(Array("watchword-linked 1\n7\n".utf8), as: linked)
        let files = [
            "vault", TestVault.own("previous"), TestVault.own("generation"), linked, attempts,
        ]
        for name in files { try setMode(0o644, of: vault.folder.file(name)) }
        try setMode(0o775, of: vault.folder.file(".watchword/by-name/vault"))
        #expect(
            try Vault.exposure(at: vault.path)
                == VaultExposure(
                    mode: 0o644, includesOwnFiles: true, includesFolder: false, isInReach: false))
        try Vault.closeToOthers(at: vault.path)
        for name in files { #expect(try mode(name, in: vault) == 0o600, "\(name)") }
        #expect(try mode(".watchword/by-name/vault", in: vault) & 0o022 == 0)
        #expect(try Vault.exposure(at: vault.path) == nil)
        #expect(try vault.unlock().reports == [.keptUnderSecondName(inode: 7)])
    }

    @Test("an exposed file in .watchword is found even if the vault itself is private")
    func ownFile() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        try setMode(0o640, of: vault.folder.file(TestVault.own("previous")))
        #expect(
            try Vault.exposure(at: vault.path)
                == VaultExposure(
                    mode: nil, includesOwnFiles: true, includesFolder: false, isInReach: true))
        try Vault.closeToOthers(at: vault.path)
        #expect(try mode(TestVault.own("previous"), in: vault) == 0o600)
    }

    @Test("the folder is corrected together with the vault")
    func folder() throws {
        let vault = try TestVault()
        try setMode(0o664, of: vault.path)
        try setMode(0o775, of: vault.folder.path)
        #expect(
            try Vault.exposure(at: vault.path)
                == VaultExposure(
                    mode: 0o664, includesOwnFiles: false, includesFolder: true, isInReach: true))
        try Vault.closeToOthers(at: vault.path)
        #expect(try vault.unlock().reports.isEmpty)
    }

    @Test(
        "the vault counts as protected by its folder only if others cannot enter the folder",
        arguments: [
            (0o644, 0o700, false), (0o644, 0o755, true), (0o664, 0o700, false),
            (0o640, 0o701, false), (0o640, 0o710, true), (0o620, 0o700, true),
        ])
    func reach(file: Int, folder: Int, isInReach: Bool) throws {
        let vault = try TestVault()
        try setMode(file, of: vault.path)
        try setMode(folder, of: vault.folder.path)
        let exposure = try #require(try Vault.exposure(at: vault.path))
        #expect(exposure.isInReach == isInReach)
        try setMode(0o700, of: vault.folder.path)
    }

    @Test("links are not followed, and files of other vaults are not changed")
    func links() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        try vault.put(Array("notes".utf8), as: "notes")
        try setMode(0o644, of: vault.folder.file("notes"))
        try setMode(0o644, of: vault.path)
        // A link to the vault, and a link in place of a file whose permissions would be corrected.
        let link = vault.folder.file("link")
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: vault.path)
        #expect(try Vault.exposure(at: link) == nil)
        try Vault.closeToOthers(at: link)
        #expect(try mode("vault", in: vault) == 0o644)
        let previous = vault.folder.file(TestVault.own("previous"))
        try removeFile(previous)
        try FileManager.default.createSymbolicLink(
            atPath: previous, withDestinationPath: vault.folder.file("notes"))
        try Vault.closeToOthers(at: vault.path)
        #expect(try mode("notes", in: vault) == 0o644)
        #expect(try mode("vault", in: vault) == 0o600)
    }

    @Test("a file that is not a vault is not corrected")
    func notAVault() throws {
        let vault = try TestVault()
        try vault.put(Array("watchword".utf8), as: "notes")
        try setMode(0o644, of: vault.folder.file("notes"))
        #expect(try Vault.exposure(at: vault.folder.file("notes")) == nil)
        try Vault.closeToOthers(at: vault.folder.file("notes"))
        #expect(try mode("notes", in: vault) == 0o644)
    }
}
