import Glibc
import TestSupport
import Testing

/// Stacks of real modules, with a simulated person at the terminal.
struct PAMTerminalTests {
    @Test("two questions are answered in turn, with and without echo as the module requests")
    func asksTwice() throws {
        let terminal = try Stack(strange: "asks-twice").askOnTerminal()
        try terminal.waitFor("Name of the ship: ")
        #expect(try terminal.settings().echoes)
        try terminal.type("Unseen\n")
        try terminal.waitFor("Word of the day: ")
        #expect(try terminal.settings().echoes == false)
        try terminal.type("herring\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("outcome: present"))
        #expect(terminal.screen.contains("Unseen"))
        #expect(!terminal.screen.contains("herring"))
        #expect(try terminal.settings().echoes)
    }

    @Test(
        "two questions in one call are asked one after the other",
        arguments: [("one", "two", "present"), ("one", "", "absent"), ("two", "one", "absent")])
    func asksBoth(_ first: String, _ second: String, _ outcome: String) throws {
        let terminal = try Stack(strange: "asks-both").askOnTerminal()
        try terminal.waitFor("First: ")
        try terminal.type(first + "\n")
        try terminal.waitFor("Second: ")
        try terminal.type(second + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("outcome: \(outcome)"))
    }

    @Test("a module's message cannot control the terminal, and its line breaks are kept")
    func steers() throws {
        let terminal = try Stack(strange: "steers").askOnTerminal()
        try terminal.waitFor("PIN: ")
        try terminal.type("x\n")
        #expect(try terminal.end() == 0)
        let lines = [
            #"Show the \u{1B}code:"#, "two",
            #"lines and \u{1B}[2J\u{7} \u{9B} \u{202E} "# + "\u{FFFD}",
            #"\u{1B}]0;title\u{7}PIN: "#, "outcome: present", "",
        ]
        #expect(terminal.screen.hasSuffix(lines.joined(separator: "\r\n")))
        #expect(!terminal.screen.unicodeScalars.contains("\u{1B}"))
    }

    @Test("an answer that is too long is rejected and not left for the shell")
    func tooLong() throws {
        let terminal = try Stack(strange: "asks-both").askOnTerminal()
        try terminal.waitFor("First: ")
        try terminal.type(String(repeating: "x", count: 600) + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("outcome: answerTooLong, may hide: false"))
    }

    @Test("a cancelled check may hide an attempt once the user has answered or seen an error")
    func breakingOff() throws {
        let early = try Stack(strange: "asks-twice").askOnTerminal()
        try early.waitFor("Name of the ship: ")
        try early.type("\u{4}")
        #expect(try early.end() == 0)
        #expect(early.screen.contains("outcome: cancelled, may hide: false"))

        let late = try Stack(strange: "asks-twice").askOnTerminal()
        try late.waitFor("Name of the ship: ")
        try late.type("Unseen\n")
        try late.waitFor("Word of the day: ")
        try late.type("\u{4}")
        #expect(try late.end() == 0)
        #expect(late.screen.contains("outcome: cancelled, may hide: true"))

        let wrong = try Stack(strange: "complains-and-asks").askOnTerminal()
        try wrong.waitFor("Password: ")
        #expect(wrong.screen.contains("That is the wrong finger"))
        try wrong.type("\u{4}")
        #expect(try wrong.end() == 0)
        #expect(wrong.screen.contains("outcome: cancelled, may hide: true"))
    }

    @Test("if the timeout expires during a question, the question ends and echo is restored")
    func timedOut() throws {
        let stack = try Stack(strange: "asks-both")
        let terminal = try stack.askOnTerminal(timeout: .milliseconds(1500))
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("outcome: timedOut, may hide: false"))
        #expect(try terminal.settings().echoes)
        try stack.waitUntilGone()
    }

    @Test(
        "Ctrl-C ends the check during a question and while a module waits for a fingerprint",
        arguments: [("asks-twice", "Name of the ship: "), ("hangs", "Place your finger")])
    func controlC(_ what: String, _ shown: String) throws {
        let stack = try Stack(strange: what)
        let terminal = try stack.askOnTerminal()
        try terminal.waitFor(shown)
        try terminal.type("\u{3}")
        #expect(try terminal.end() != 0)
        #expect(!terminal.screen.contains("outcome"))
        #expect(try terminal.settings().echoes)
        try stack.waitUntilGone()
    }

    @Test(
        "SIGTERM, SIGQUIT and SIGKILL end the program and the modules",
        arguments: [SIGTERM, SIGQUIT, SIGKILL])
    func killed(_ signal: Int32) throws {
        let stack = try Stack(strange: "complains-and-asks")
        let terminal = try stack.askOnTerminal()
        try terminal.waitFor("Password: ")
        let number = try #require(Int32(terminal.screen.prefix { $0.isNumber }))
        #expect(kill(number, signal) == 0)
        #expect(try terminal.end() != 0)
        #expect(!terminal.screen.contains("outcome"))
        if signal != SIGKILL { #expect(try terminal.settings().echoes) }
        try stack.waitUntilGone()
    }

    @Test(
        "closing the terminal ends the program and the modules", arguments: ["asks-twice", "hangs"])
    func hangUp(_ what: String) throws {
        let stack = try Stack(strange: what)
        let terminal = try stack.askOnTerminal()
        try terminal.waitFor(what == "hangs" ? "Place your finger" : "Name of the ship: ")
        terminal.hangUp()
        try stack.waitUntilGone()
    }

    @Test("after Ctrl-Z and fg, the question is asked again")
    func controlZ() throws {
        let stack = try Stack(strange: "complains-and-asks")
        let terminal = try stack.askOnTerminal()
        try terminal.waitFor("Password: ")
        let number = try #require(Int32(terminal.screen.prefix { $0.isNumber }))
        terminal.clear()
        try terminal.type("half\u{1A}")
        try terminal.waitFor("\n")
        #expect(kill(number, SIGCONT) == 0)
        try terminal.waitFor("Password: ")
        try terminal.type("x\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("outcome: present"))
    }
}
