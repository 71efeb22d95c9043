import DeviceLogin
import TestSupport
import Testing

@testable import Commands

/// Texts that `key confirm` shows before it asks whether to sign them.
@Suite(.serialized)
struct ConfirmedTextTests {
    private static let challenge =
        "wwx_SIeaR8idBVnfcBJc64GIjtadkHmDZ_g8E8kCAsGel5w\n1800000000000\n"

    private static func text(_ lines: [String]) throws -> ConfirmedText {
        let file = challenge + lines.joined(separator: "\n") + "\n"
        return ConfirmedText(try #require(KeyConfirmation(parsing: file)))
    }

    @Test(
        "a line takes as many rows as the terminal's width requires",
        arguments: [
            (0, 80, 1), (1, 80, 1), (80, 80, 1), (81, 80, 2), (160, 80, 2), (161, 80, 3),
            (100, 1, 100), (5, 0, 5),
        ])
    func rows(count: Int, columns: Int, rows: Int) {
        let line = String(repeating: "x", count: count)
        #expect(ConfirmedText.rows(of: line, columns: columns) == rows)
    }

    @Test("characters that may be wide are counted as wide, and never split")
    func wide() {
        #expect(ConfirmedText.rows(of: String(repeating: "é", count: 80), columns: 80) == 1)
        #expect(ConfirmedText.rows(of: String(repeating: "Ж", count: 80), columns: 80) == 1)
        for letter in ["紙", "😀", "⌚", "…"] {
            let line = String(repeating: letter, count: 40)
            #expect(ConfirmedText.rows(of: line, columns: 80) == 2, "\(letter)")
            #expect(
                ConfirmedText.rows(of: String(line.prefix(39)), columns: 80) == 1, "\(letter)")
            // Only two wide characters fit in five columns, because the third is not split.
            #expect(ConfirmedText.rows(of: String(line.prefix(5)), columns: 5) == 3, "\(letter)")
        }
    }

    @Test("a text is refused if it needs one row too many together with the question")
    func fitting() throws {
        let question = Question.confirmation("Sign these lines for https://login.example?")
        let short = try Self.text((1...20).map { "\($0)" })
        try short.require(question, toFit: (80, 21))
        try short.require(question, toFit: nil)
        try short.require(question, toFit: (0, 0))
        func refusal(
            _ text: ConfirmedText, _ size: (columns: Int, rows: Int)?
        ) -> (needed: Int, available: Int)? {
            do {
                try text.require(question, toFit: size)
                return nil
            } catch {
                guard case CommandFailure.textTooTall(let needed, let available) = error else {
                    return nil
                }
                return (needed, available)
            }
        }
        #expect(try #require(refusal(short, (80, 20))) == (21, 20))
        // 1,000 bytes in one line, on a terminal of unknown size.
        let long = try Self.text([String(repeating: "x", count: 1_000)])
        #expect(refusal(long, nil) == nil)
        #expect(try #require(refusal(long, (20, 24))) == (54, 24))
        // Twenty lines, ten of which wrap once.
        let wrapped = try Self.text(
            (1...10).map { _ in String(repeating: "x", count: 77) } + (11...20).map { "\($0)" })
        #expect(try #require(refusal(wrapped, (80, 24))) == (31, 24))
    }

    private func terminal(_ lines: [String], _ command: String) throws -> PseudoTerminal {
        let folder = try TemporaryFolder()
        try folder.write(
            Array((Self.challenge + lines.joined(separator: "\n") + "\n").utf8), to: "text.txt")
        try folder.write(Array("pass\n".utf8), to: "pass.txt")
        try folder.write(Array("wwt_ticket\n".utf8), to: "ticket.txt")
        let made = try Transcript.run(
            "chmod 600 *.txt; watchword init -q --scrypt-log-n 10 --no-recovery-key "
                + "--passphrase-file pass.txt; watchword key enrol Mill:ann --server "
                + "http://localhost:1 --ticket-file ticket.txt --custody vault "
                + "--passphrase-file pass.txt 2>/dev/null; test $? = 6", in: folder)
        #expect(made.status == 0)
        return try PseudoTerminal(
            command.replacing(
                "confirm", with: "watchword key confirm mill --challenge-file text.txt"),
            in: folder)
    }

    @Test(
        "a text whose wrapped lines do not fit on the terminal is not shown, and nothing is asked")
    func tooTall() throws {
        let lines = ["Pay 9,000 EUR"] + (1...19).map { _ in String(repeating: "x", count: 50) }
        let terminal = try terminal(lines, "stty cols 40; confirm")
        #expect(try terminal.end() == 3)
        let words = terminal.screen.replacing("\r\n", with: " ")
        #expect(words.contains("take 40 lines of the terminal, which shows 24"), "\(words)")
        #expect(!words.contains("Pay 9,000") && !words.contains("Passphrase"))
    }

    @Test("the whole text is on the screen, directly above the question")
    func fits() throws {
        let lines = ["Pay 9,000 EUR"] + (1...18).map { "line \($0)" } + ["to Paper Mill"]
        let terminal = try terminal(lines, "confirm")
        try terminal.waitFor("Passphrase: ")
        #expect(terminal.screen.contains("  | Pay 9,000 EUR"))
        for _ in 0..<2 {
            terminal.clear()
            try terminal.type("guess\n")
            try terminal.waitFor("Passphrase: ")
        }
        try terminal.type("pass\n")
        try terminal.waitFor("[y/N] ")
        let shown = lines.map { "  | " + $0 }.joined(separator: "\n")
        let screen = terminal.screen.replacing("\r\n", with: "\n")
        #expect(
            screen.hasSuffix(shown + "\nSign these 20 lines for http://localhost:1? [y/N] "),
            "\(screen)")
        try terminal.type("n\n")
        #expect(try terminal.end() == 1)
    }

    @Test("a window that has become too small is detected before the question")
    func resized() throws {
        let lines = (1...12).map { "line \($0)" }
        let terminal = try terminal(lines, "confirm")
        try terminal.waitFor("Passphrase: ")
        try terminal.resize(columns: 80, rows: 12)
        try terminal.type("pass\n")
        #expect(try terminal.end() == 3)
        #expect(terminal.screen.contains("take 13 lines"), "\(terminal.screen)")
    }

    @Test("the text is shown on the terminal even if messages go elsewhere")
    func redirected() throws {
        let terminal = try terminal(["Pay 9,000 EUR"], "confirm 2>messages.txt")
        try terminal.waitFor("Passphrase: ")
        try terminal.type("pass\n")
        try terminal.waitFor("[y/N] ")
        #expect(terminal.screen.contains("  | Pay 9,000 EUR"))
        try terminal.type("n\n")
        #expect(try terminal.end() == 1)
    }
}
