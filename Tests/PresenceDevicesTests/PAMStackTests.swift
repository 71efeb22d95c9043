import Foundation
import Glibc
import TestSupport
import Testing

/// Stacks of real modules, asked where there is no terminal.
struct PAMStackTests {
    private func outcome(_ what: String, mayHide: Bool = false) -> String {
        "outcome: \(what), may hide: \(mayHide)\n"
    }

    @Test("pam_permit says yes, pam_deny says no")
    func permitAndDeny() throws {
        let permit = try Stack(["auth required pam_permit.so", "account required pam_permit.so"])
        #expect(try permit.askBlindly() == "outcome: present\n")
        let deny = try Stack(["auth required pam_deny.so", "account required pam_permit.so"])
        #expect(try deny.askBlindly() == "outcome: absent\n")
    }

    @Test("a yes to the person is no yes to an account that has expired, and nothing was guessed")
    func account() throws {
        let stack = try Stack(strange: "agrees", account: "expired")
        let failure = "PAMCallFailure(call: \(pamCall).validateAccount, code: 13)"
        #expect(try stack.askBlindly() == outcome("accountRefused(\(pamDevices)\(failure))"))
    }

    private let pamDevices = "PresenceDevices."
    private let pamCall = "PresenceDevices.PAMCallFailure.Call"

    @Test("without a service file nobody is asked, whatever the service “other” would say")
    func noServiceFile() throws {
        let stack = try Stack([])
        try stack.folder.write(
            Array("auth required pam_permit.so\naccount required pam_permit.so\n".utf8),
            to: "pam.d/other")
        #expect(try stack.askBlindly() == outcome("noServiceFile"))
    }

    @Test("a module that is not there, or can't tell, is no answer")
    func unavailable() throws {
        let missing = try Stack(["auth required /nonexistent.so"])
        #expect(try missing.askBlindly().contains("failed("))
        #expect(try Stack(strange: "unavailable").askBlindly().contains("authenticate, code: 9"))
        let empty = try Stack(["# nothing"])
        #expect(try empty.askBlindly() != "outcome: present\n")
    }

    @Test("a module that crashes or leaves is no answer")
    func endings() throws {
        #expect(
            try Stack(strange: "crashes").askBlindly()
                == outcome("ended(POSIX.ChildProcess.Ending.crashed(signal: 11))"))
        #expect(
            try Stack(strange: "leaves").askBlindly()
                == outcome("ended(POSIX.ChildProcess.Ending.exited(0))"))
    }

    @Test("a module that says more than anybody reads is ended", arguments: ["floods", "shouts"])
    func talkative(_ how: String) throws {
        let stack = try Stack(strange: how)
        #expect(try stack.askBlindly() == outcome("talksTooMuch", mayHide: how == "shouts"))
        try stack.waitUntilGone()
    }

    @Test("what a module prints is not taken for the verdict")
    func prints() throws {
        #expect(try Stack(strange: "prints").askBlindly() == "outcome: absent\n")
    }

    @Test("the modules find an empty environment, and no core is dumped of them")
    func surroundings() throws {
        #expect(try Stack(strange: "looks-around").askBlindly() == "outcome: present\n")
    }

    @Test("O-14 the modules find no file open that their caller was left with")
    func inheritedFiles() throws {
        let stack = try Stack(strange: "looks-for-files")
        let secret = try stack.folder.write(Array("passphrase\n".utf8), to: "pass.txt")
        let inherited = (3..<23).map { "\($0)<'\(secret)'" }.joined(separator: " ")
        let asker = BuiltProgram.path("PresenceAsker")
        let bash = try #require(ForeignProgram("bash"))
        let command = "exec setsid --wait '\(asker)' '\(stack.program)' 60000 \(inherited)"
        #expect(try bash.run(["-c", command]).text == "outcome: present\n")
    }

    @Test("a question where there is no terminal is no answer")
    func noTerminal() throws {
        #expect(try Stack(strange: "asks-twice").askBlindly() == outcome("noTerminal"))
    }

    @Test("a question that is no text is not asked")
    func binaryQuestion() throws {
        #expect(try Stack(strange: "asks-nothing-known").askBlindly().contains("failed("))
    }

    @Test("a module that hangs is killed when the time is over, with what it started")
    func hangs() throws {
        let stack = try Stack(strange: "hangs")
        #expect(try stack.askBlindly(timeout: .milliseconds(500)) == outcome("timedOut"))
        try stack.waitUntilGone()
    }
}
