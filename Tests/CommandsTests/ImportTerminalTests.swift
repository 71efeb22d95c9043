import Foundation
import TestSupport
import Testing

/// The prompt for an export's password.
@Suite(.serialized)
struct ImportTerminalTests {
    private static let prompt = "Password for ente.txt (an Ente Auth export): "
    private static let wrong = "wrong password, or the file is damaged; try again"

    /// Ente's export of one entry in the trash; its password is “pw”.
    private static let export = """
        {"version":1,"kdfParams":{"memLimit":65536,"opsLimit":1,"salt":"r+FS3FugGxRLLQvk/wpJww=="},\
        "encryptedData":"eXCOWTq2sgWDKDOZwQUbSX2pUIQ8nqdSIoeUGlIFLg1Pa81xDl5KG+kcEcKOfKzAyuV2UCc7ZDakB\
        /fPSqLZoMS3CONh1flD2sIy24bMenfPcRfERK894djWjssn5ZVDzG330ZEnYJsey9gAfAfwy3wcgZMMtVHGGQQMu9xJrThc\
        PPuMpb2yPjwqhVJ7fkD++AsXsg==","encryptionNonce":"VOUAmSX6BO2zrFYDhsBs/FpVm3ncaeDq"}
        """

    private static let binary = [UInt8](repeating: 0xFE, count: 100)

    private func start(_ operands: String) throws -> PseudoTerminal {
        let vault = try VaultFixture()
        try vault.folder.write(Array(Self.export.utf8), to: "ente.txt")
        try vault.folder.write(Self.binary, to: "binary")
        return try vault.terminal(
            "watchword import --include-deleted \(operands) --passphrase-file pass.txt;"
                + " echo \"exit $?\"; watchword list --passphrase-file pass.txt")
    }

    @Test("the prompt for an export's password repeats until it is correct, and does not echo")
    func rightAtLast() throws {
        let terminal = try start("ente.txt")
        for answer in ["first", "second"] {
            try terminal.waitFor(Self.prompt)
            #expect(try terminal.settings().echoes == false)
            terminal.clear()
            try terminal.type(answer + "\n")
            try terminal.waitFor(Self.wrong)
            #expect(!terminal.screen.contains(answer))
        }
        try terminal.answer([(Self.prompt, "pw")])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("ente.txt: Ente Auth export: 1 added"))
        #expect(terminal.screen.contains("exit 0"))
        #expect(terminal.screen.contains("Acme:ann"))
    }

    @Test("the last correct password is tried first on the next file")
    func samePassword() throws {
        let vault = try VaultFixture()
        for file in ["ente.txt", "next.txt"] {
            try vault.folder.write(Array(Self.export.utf8), to: file)
        }
        let terminal = try vault.terminal(
            "watchword import --include-deleted ente.txt next.txt --passphrase-file pass.txt")
        try terminal.answer([(Self.prompt, "pw")])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("next.txt: Ente Auth export: 1 already present"))
        #expect(!terminal.screen.contains("Password for next.txt"))
    }

    @Test("after three wrong passwords the file is refused, and the others are imported")
    func threeWrong() throws {
        let vault = try VaultFixture()
        try vault.folder.write(Array(Self.export.utf8), to: "ente.txt")
        try vault.folder.write(
            Array("otpauth://totp/B:b?secret=MFRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK".utf8), to: "uri.txt")
        let terminal = try vault.terminal(
            "watchword import ente.txt uri.txt --passphrase-file pass.txt; echo \"exit $?\"")
        try terminal.answer([
            (Self.prompt, "one"), (Self.prompt, "two"), (Self.prompt, "three"),
        ])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("an Ente Auth export, encrypted; wrong password"))
        #expect(terminal.screen.contains("uri.txt, line 1: added: B:b"))
        #expect(terminal.screen.contains("exit 1"))
    }

    private struct Database: Codable, Sendable {
        let name: String
        let file: String
        let entries: [String]
    }

    @Test("the reason why a KeePass database does not open may be a missing key file")
    func missingKeyFile() throws {
        let database = try #require(try VectorFile<Database>("exports/keepass.json").cases.first)
        let vault = try VaultFixture()
        let content = try #require(Data(base64Encoded: database.file))
        try vault.folder.write(Array(content), to: "k.kdbx")
        let terminal = try vault.terminal("watchword import k.kdbx --passphrase-file pass.txt")
        let reason =
            "wrong password, wrong or missing key file (--key-file FILE), or the file is damaged"
        let prompt = "Password for k.kdbx (a KeePass database): "
        try terminal.answer([(prompt, "other")])
        // A prompt discards earlier input.
        try terminal.waitFor("\(reason); try again")
        try terminal.answer([(prompt, "")])
        #expect(try terminal.end() == 1)
        #expect(terminal.screen.contains("not read: a KeePass database, encrypted; \(reason)"))
    }

    /// Imports keys with the names A:a, B:b and C:c, which have different keys in the vault.
    private func startWithTakenNames() throws -> PseudoTerminal {
        let vault = try VaultFixture()
        for (file, letter) in [("old.txt", "A"), ("new.txt", "B")] {
            let lines = ["A:a", "B:b", "C:c"].map { name in
                let secret = String(repeating: letter, count: 31) + name.prefix(1)
                return "otpauth://totp/\(name)?secret=\(secret)\n"
            }
            try vault.folder.write(Array(lines.joined().utf8), to: file)
        }
        return try vault.terminal(
            "watchword import -q old.txt --passphrase-file pass.txt;"
                + " watchword import new.txt --passphrase-file pass.txt; echo \"exit $?\";"
                + " watchword list --passphrase-file pass.txt")
    }

    private static let choice = "replace it, keep both, or skip the new one?"

    @Test("for each name with a different key, the user chooses to replace, keep both or skip")
    func chosenEach() throws {
        let terminal = try startWithTakenNames()
        try terminal.answer([
            ("A:a (1 of 3): " + Self.choice, "r"), ("B:b (2 of 3): " + Self.choice, "what"),
            ("B:b (2 of 3): " + Self.choice, "k"), ("C:c (3 of 3): " + Self.choice, ""),
        ])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("replaced: A:a"))
        #expect(terminal.screen.contains("added: B:b"))
        #expect(terminal.screen.contains("skipped: C:c (at your request)"))
        #expect(terminal.screen.contains("1 added, 1 replaced, 1 skipped (at your request)"))
        #expect(terminal.screen.contains("exit 0"))
    }

    @Test("an answer in upper case applies to the names that follow")
    func chosenForAll() throws {
        let terminal = try startWithTakenNames()
        try terminal.answer([("A:a (1 of 3): " + Self.choice, "K")])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("new.txt: 3 added"))
    }

    @Test("Ctrl-D at the choice prompt imports nothing")
    func choiceEnded() throws {
        let terminal = try startWithTakenNames()
        try terminal.answer([("A:a (1 of 3): " + Self.choice, "r")])
        try terminal.waitFor("B:b (2 of 3)")
        try terminal.type("\u{4}")
        #expect(try terminal.end() == 0)
        #expect(!terminal.screen.contains("replaced"))
        #expect(!terminal.screen.contains("exit 0"))
    }

    @Test("Return and Ctrl-D at the prompt skip the file", arguments: ["\n", "\u{4}"])
    func skipped(_ answer: String) throws {
        let terminal = try start("ente.txt")
        try terminal.waitFor(Self.prompt)
        try terminal.type(answer)
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("an Ente Auth export, encrypted; enter its password"))
        #expect(terminal.screen.contains("exit 1"))
    }

    @Test("Ctrl-C at the prompt ends the import, and nothing is saved")
    func interrupted() throws {
        let vault = try VaultFixture()
        try vault.folder.write(Array(Self.export.utf8), to: "ente.txt")
        let before = try vault.vault()
        let terminal = try vault.terminal("watchword import ente.txt --passphrase-file pass.txt")
        try terminal.waitFor(Self.prompt)
        try terminal.type("half\u{3}")
        #expect(try terminal.end() != 0)
        #expect(try vault.vault() == before)
    }

    @Test("a specified binary file may be an encrypted export; files in a folder cause no prompt")
    func binaries() throws {
        let terminal = try start("binary")
        try terminal.waitFor("Password for binary (perhaps an encrypted export): ")
        try terminal.type("\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("neither an image nor a known export"))

        let vault = try VaultFixture()
        try vault.run("mkdir files")
        try vault.folder.write(Self.binary, to: "files/binary")
        let other = try vault.terminal("watchword import files --passphrase-file pass.txt")
        #expect(try other.end() == 1)
        #expect(other.screen.contains("files/binary: not read: neither an image nor"))
        #expect(!other.screen.contains("Password"))
    }
}
