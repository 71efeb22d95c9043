import Foundation
import TestSupport
import Testing

@Suite(.serialized)
struct TerminalTests {
    private static let passphrase = "correct-horse-battery"
    private static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

    private func folderWithVault() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(Array((Self.passphrase + "\n").utf8), to: "pass.txt")
        try folder.write(Array((Self.key + "\n").utf8), to: "key.txt")
        let made = try Transcript.run(
            "watchword init -q --scrypt-log-n 10 --no-recovery-key --passphrase-file pass.txt"
                + " && watchword add -q Site:me --secret-file key.txt --passphrase-file pass.txt",
            in: folder)
        #expect(made.status == 0)
        return folder
    }

    @Test("the passphrase is not echoed, and echo is restored afterwards")
    func prompt() throws {
        let terminal = try PseudoTerminal("watchword list", in: folderWithVault())
        try terminal.waitFor("Passphrase: ")
        #expect(try terminal.settings().echoes == false)
        try terminal.type(Self.passphrase + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("Site:me"))
        #expect(!terminal.screen.contains(Self.passphrase))
        #expect(try terminal.settings().echoes)
    }

    @Test("Ctrl-C at the passphrase prompt ends the program and restores echo")
    func controlC() throws {
        let terminal = try PseudoTerminal("watchword list", in: folderWithVault())
        try terminal.waitFor("Passphrase: ")
        try terminal.type("half\u{3}")
        #expect(try terminal.end() != 0)
        #expect(try terminal.settings().echoes)
        #expect(!terminal.screen.contains("half"))
        #expect(!terminal.screen.contains("Site"))
    }

    @Test(
        "echo is restored if a signal ends the program at the passphrase prompt",
        arguments: ["TERM", "HUP", "QUIT"])
    func killed(_ signal: String) throws {
        let terminal = try PseudoTerminal(
            "echo $$; exec watchword list", in: folderWithVault())
        try terminal.waitFor("Passphrase: ")
        let number = terminal.screen.prefix { $0.isNumber }
        let kill = try #require(ForeignProgram("kill") ?? ForeignProgram("sh"))
        let arguments =
            kill.path.hasSuffix("sh")
            ? ["-c", "kill -\(signal) \(number)"] : ["-\(signal)", String(number)]
        #expect(try kill.run(arguments).status == 0)
        #expect(try terminal.end() != 0)
        #expect(try terminal.settings().echoes)
    }

    @Test("a signal that is ignored, as nohup does, ends the command at the passphrase prompt")
    func ignored() throws {
        let terminal = try PseudoTerminal(
            "trap '' HUP; echo $$; exec watchword list", in: folderWithVault())
        try terminal.waitFor("Passphrase: ")
        let number = terminal.screen.prefix { $0.isNumber }
        let shell = try #require(ForeignProgram("sh"))
        #expect(try shell.run(["-c", "kill -HUP \(number)"]).status == 0)
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("interrupted; nothing was changed"))
        #expect(try terminal.settings().echoes)
    }

    @Test("the passphrase prompt appears on the terminal even if standard input is redirected")
    func inputIsData() throws {
        let folder = try folderWithVault()
        let terminal = try PseudoTerminal(
            "watchword add Other:me --secret-file - <key.txt >out.txt 2>err.txt", in: folder)
        try terminal.waitFor("Passphrase: ")
        try terminal.type(Self.passphrase + "\n")
        #expect(try terminal.end() == 0)
        let said = String(decoding: try folder.bytes(of: "err.txt"), as: UTF8.self)
        #expect(said.contains("Added Other:me."))
    }

    @Test("Ctrl-D at the passphrase prompt ends the program with status 4")
    func controlD() throws {
        let terminal = try PseudoTerminal("watchword list", in: folderWithVault())
        try terminal.waitFor("Passphrase: ")
        try terminal.type("\u{4}")
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("no answer"))
    }

    @Test("init asks for the passphrase twice, shows the recovery key once, and verifies the copy")
    func initialize() throws {
        let folder = try TemporaryFolder()
        let terminal = try PseudoTerminal("watchword init --scrypt-log-n 10", in: folder)
        try terminal.waitFor("New passphrase: ")
        try terminal.type("one\n")
        try terminal.waitFor("New passphrase again: ")
        try terminal.type("one\n")
        try terminal.waitFor("as you wrote it down: ")
        let pattern = /[A-Z2-7]{4}(-[A-Z2-7]{4}){13}/
        let key = try #require(terminal.screen.firstMatch(of: pattern)?.output.0)
        #expect(terminal.screen.contains("write it down:"))
        #expect(terminal.screen.contains("Store your copy away from the vault"))
        terminal.clear()
        try terminal.type("wrong\n")
        try terminal.waitFor("press Return to skip")
        // The next prompt discards earlier input.
        try terminal.waitFor("as you wrote it down: ")
        terminal.clear()
        try terminal.type(key.lowercased() + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("The recovery key is correct."))
        #expect(terminal.screen.contains("To add an entry, run: watchword add NAME."))
    }

    @Test(
        "a recovery key is saved even if the user skips the verification",
        arguments: ["\u{4}", "\n"])
    func unchecked(_ answer: String) throws {
        let terminal = try PseudoTerminal(
            "watchword slot add recovery-key --passphrase-file pass.txt; echo \"exit $?\";"
                + " watchword slot list --passphrase-file pass.txt", in: folderWithVault())
        try terminal.waitFor("as you wrote it down: ")
        try terminal.type(answer)
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("not verified, but it unlocks the vault"))
        #expect(terminal.screen.contains("exit 0"))
        #expect(terminal.screen.contains("2  recovery-key"))
        #expect(!terminal.screen.contains("nothing was changed"))
    }

    @Test("a partly typed passphrase is not left for the shell after SIGTERM")
    func halfTyped() throws {
        let terminal = try PseudoTerminal(
            "sh -c 'echo $$; exec watchword list'; echo ended; read -r line; echo \"<$line>\"",
            in: folderWithVault())
        try terminal.waitFor("Passphrase: ")
        let number = terminal.screen.prefix { $0.isNumber }
        try terminal.type("half")
        let shell = try #require(ForeignProgram("sh"))
        #expect(try shell.run(["-c", "kill -TERM \(number)"]).status == 0)
        try terminal.waitFor("ended")
        try terminal.type("x\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("<x>"))
    }

    @Test("no vault is created if the two new passphrases differ")
    func differing() throws {
        let folder = try TemporaryFolder()
        let terminal = try PseudoTerminal("watchword init --scrypt-log-n 10 --vault v", in: folder)
        try terminal.waitFor("New passphrase: ")
        try terminal.type("one\n")
        try terminal.waitFor("New passphrase again: ")
        try terminal.type("two\n")
        #expect(try terminal.end() == 4)
        #expect(!FileManager.default.fileExists(atPath: folder.file("v")))
    }

    @Test(
        "a secret is shown on a terminal only after confirmation", arguments: [("n", 1), ("y", 0)])
    func showing(_ answer: String, _ status: Int32) throws {
        for verb in ["show Site:me --uri", "show Site:me --qr", "export"] {
            let terminal = try PseudoTerminal(
                "watchword \(verb) --passphrase-file pass.txt", in: folderWithVault())
            try terminal.waitFor("[y/N] ")
            try terminal.type(answer + "\n")
            #expect(try terminal.end() == status)
            let shows = terminal.screen.contains(Self.key) || terminal.screen.contains("▀")
            #expect(shows == (status == 0))
        }
    }

    @Test(
        "watch shows codes until the user quits, then restores the screen",
        arguments: ["q", "\u{3}"])
    func watch(_ end: String) throws {
        let terminal = try PseudoTerminal(
            "exec watchword watch --passphrase-file pass.txt", in: folderWithVault())
        try terminal.waitFor("q to quit")
        #expect(try terminal.settings() == (echoes: false, edits: false))
        #expect(terminal.screen.contains("\u{1B}[?1049h"))
        #expect(terminal.screen.contains("Site:me"))
        try terminal.type(end)
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
        #expect(try terminal.settings() == (echoes: true, edits: true))
    }

    @Test("watch uses no colours if NO_COLOR is set")
    func withoutColour() throws {
        let terminal = try PseudoTerminal(
            "exec watchword watch --passphrase-file pass.txt", in: folderWithVault(),
            environment: ["NO_COLOR": "1"])
        try terminal.waitFor("q to quit")
        try terminal.type("q")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.firstMatch(of: /\x1B\[\d*m/) == nil)
    }

    @Test("watch can show an entry with the longest period, 2^63 - 1 seconds")
    func endlessPeriod() throws {
        let folder = try folderWithVault()
        let uri = "otpauth://totp/X:b?secret=\(Self.key)&period=9223372036854775807"
        try folder.write(Array(uri.utf8), to: "far.txt")
        let terminal = try PseudoTerminal(
            "watchword import -q far.txt --passphrase-file pass.txt"
                + " && exec watchword watch --passphrase-file pass.txt", in: folder)
        try terminal.waitFor("q to quit")
        #expect(terminal.screen.contains("X:b"))
        try terminal.type("q")
        #expect(try terminal.end() == 0)
    }

    @Test("an import shows progress, and Ctrl-C leaves all of its changes or none")
    func interruptedImport() throws {
        let folder = try folderWithVault()
        let made = try Transcript.run(
            """
            mkdir shots
            for i in 1 2 3 4 5 6 7 8 9; do
                printf 'otpauth://totp/a%d?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJ%d' $i $((i % 6 + 2)) |
                    watchword qr write --text-file - --png shots/$i.png || exit
            done
            """, in: folder)
        #expect(made.status == 0)
        let before = try folder.bytes(of: ".local/share/watchword/vault")
        let terminal = try PseudoTerminal(
            "exec watchword import shots --passphrase-file pass.txt", in: folder)
        try terminal.waitFor("of 9 images")
        try terminal.type("\u{3}")
        _ = try terminal.end()
        let after = try folder.bytes(of: ".local/share/watchword/vault")
        let list = try Transcript.run(
            "watchword list --passphrase-file pass.txt | wc -l", in: folder)
        // Nine images have six keys; with the existing entry, there are seven.
        #expect(list.text == (before == after ? "1\n" : "7\n"))
    }
}
