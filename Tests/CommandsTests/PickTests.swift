import TestSupport
import Testing

/// `pick` and `watch` on a terminal.
@Suite(.serialized)
struct PickTests {
    private func fixture() throws -> VaultFixture {
        try VaultFixture([
            "GitHub:ann --secret-file key.txt", "Mail:ann --tag work --secret-file key.txt",
            "Bank:ann --type hotp --secret-file key.txt",
            "Safe:ann --presence per-use --secret-file key.txt",
            "Router --type secret --secret-file key.txt",
        ])
    }

    private static let down = "\u{1B}[B"

    @Test("pick filters as the user types; Ctrl-P prints the selected code to standard output")
    func printing() throws {
        let fixture = try fixture()
        let terminal = try fixture.terminal(
            "watchword pick --passphrase-file pass.txt >code.txt; echo \"exit $?\"")
        try terminal.waitFor("Escape ends (4 of 4)")
        #expect(!terminal.screen.contains("Router"))
        terminal.clear()
        try terminal.type("ban")
        try terminal.waitFor("(1 of 4)")
        try terminal.type("\u{10}")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("exit 0"))
        #expect(try fixture.line(of: "code.txt") == "755224")
    }

    @Test("the arrow keys select, and the argument is the first filter")
    func selecting() throws {
        let fixture = try fixture()
        let terminal = try fixture.terminal(
            "watchword pick ann --json --passphrase-file pass.txt >code.txt")
        try terminal.waitFor("(4 of 4)")
        terminal.clear()
        // Bank, GitHub, Mail, Safe.
        try terminal.type(Self.down + Self.down)
        try terminal.waitFor("> \u{1B}[0mMail:ann")
        try terminal.type("\u{10}")
        #expect(try terminal.end() == 0)
        #expect(try fixture.line(of: "code.txt").hasPrefix("{\"account\":\"ann\",\"code\":\""))
        #expect(try fixture.line(of: "code.txt").contains("\"issuer\":\"Mail\""))
    }

    @Test(
        "Escape and Ctrl-C end pick without a code, whatever was typed, and restore the terminal",
        arguments: ["\u{1B}", "\u{3}"], ["", "ban"])
    func leaving(_ key: String, _ filter: String) throws {
        let fixture = try fixture()
        let terminal = try fixture.terminal(
            "exec watchword pick --passphrase-file pass.txt >code.txt")
        try terminal.waitFor("Escape ends")
        if !filter.isEmpty {
            try terminal.type(filter)
            try terminal.waitFor("(1 of 4)")
        }
        try terminal.type(key)
        #expect(try terminal.end() == 1)
        #expect(try fixture.folder.bytes(of: "code.txt") == [])
        #expect(try terminal.settings() == (echoes: true, edits: true))
    }

    @Test(
        "pick ends after the idle time, and so does watch, which clears the screen",
        arguments: ["pick", "watch"])
    func idle(_ verb: String) throws {
        let terminal = try fixture().terminal(
            "exec watchword \(verb) --idle 1s --passphrase-file pass.txt")
        try terminal.waitFor("Mail:ann")
        #expect(try terminal.end() == (verb == "pick" ? 1 : 0))
        #expect(
            terminal.screen.hasSuffix(
                "\u{1B}[?25h\u{1B}[?1049lEnded after 1 second without a key press.\r\n"))
    }

    @Test("watch filters after /, moves with the arrow keys, and Escape shows everything again")
    func watch() throws {
        let terminal = try fixture().terminal("exec watchword watch --passphrase-file pass.txt")
        try terminal.waitFor("(2 of 2)")
        try terminal.waitFor("> \u{1B}[0m")
        terminal.clear()
        try terminal.type("/wor")
        try terminal.waitFor("Enter to copy, Escape to show all")
        try terminal.waitFor("/wor█")
        terminal.clear()
        try terminal.type("\u{1B}")
        try terminal.waitFor("(2 of 2)")
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }

    @Test("without a terminal, pick names the command that prints a code")
    func withoutTerminal() throws {
        let fixture = try fixture()
        let outcome = try fixture.run("watchword pick --passphrase-file pass.txt", status: 4)
        #expect(
            String(decoding: outcome.errors, as: UTF8.self)
                == "watchword: no terminal to show the list on; watchword code NAME prints a code\n"
        )
    }
}
