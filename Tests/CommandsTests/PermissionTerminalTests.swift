import Foundation
import TestSupport
import Testing

/// A vault that other users can access, on a terminal.
@Suite(.serialized)
struct PermissionTerminalTests {
    private static let vault = ".local/share/watchword/vault"

    private func mode(_ fixture: VaultFixture) throws -> Int {
        let path = fixture.folder.file(Self.vault)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test("the program asks before it corrects the vault's mode, and then continues")
    func corrected() throws {
        let fixture = try VaultFixture(["A:a --secret-file key.txt"])
        try setMode(0o644, of: fixture.folder.file(Self.vault))
        // Other users can reach the file only if they can enter each folder.
        for folder in ["", ".local", ".local/share", ".local/share/watchword"] {
            try setMode(0o755, of: fixture.folder.file(folder))
        }
        let refusing = try fixture.terminal("watchword list --passphrase-file pass.txt")
        try refusing.answer([
            (
                "other users can access the vault (mode 0644). Correct the permissions? [y/N] ",
                "n"
            )
        ])
        #expect(try refusing.end() == 1)
        #expect(!refusing.screen.contains("A:a"))
        #expect(try mode(fixture) == 0o644)
        let agreeing = try fixture.terminal("watchword list --passphrase-file pass.txt")
        try agreeing.answer([("Correct the permissions? [y/N] ", "y")])
        #expect(try agreeing.end() == 0)
        #expect(
            agreeing.screen.contains(
                "Corrected the permissions. Other users may have read the files before."))
        #expect(agreeing.screen.contains("A:a"))
        #expect(try mode(fixture) == 0o600)
    }

    @Test("the question names the folder that it changes, and a sticky folder stays as it is")
    func folder() throws {
        let fixture = try VaultFixture(["A:a --secret-file key.txt"])
        let folder = fixture.folder.file(".local/share/watchword")
        for path in ["", ".local", ".local/share"] {
            try setMode(0o755, of: fixture.folder.file(path))
        }
        for (mode, after, isNamed) in [(0o1777, 0o1777, false), (0o777, 0o755, true)] {
            try setMode(mode, of: folder)
            try setMode(0o644, of: fixture.folder.file(Self.vault))
            let terminal = try fixture.terminal("watchword list --passphrase-file pass.txt")
            try terminal.waitFor("Correct the permissions? [y/N] ")
            #expect(terminal.screen.contains("write to the folder") == isNamed)
            try terminal.type("y\n")
            #expect(try terminal.end() == 0)
            #expect(try TestSupport.mode(of: folder) == after)
            #expect(try self.mode(fixture) == 0o600)
        }
    }

    @Test("a mode is corrected without a question if nobody else can reach the vault")
    func outOfReach() throws {
        for closed in ["", ".local/share/watchword"] {
            let fixture = try VaultFixture(["A:a --secret-file key.txt"])
            for folder in ["", ".local", ".local/share", ".local/share/watchword"] {
                try setMode(folder == closed ? 0o700 : 0o755, of: fixture.folder.file(folder))
            }
            try setMode(0o644, of: fixture.folder.file(Self.vault))
            let terminal = try fixture.terminal("watchword list --passphrase-file pass.txt")
            #expect(try terminal.end() == 0)
            #expect(terminal.screen.contains("A:a") && !terminal.screen.contains("permissions"))
            #expect(try mode(fixture) == 0o600)
        }
    }
}
