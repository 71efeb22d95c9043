import Foundation
import Glibc
import TestSupport
import Testing

/// Stacks of real modules, asked without a terminal.
struct PAMStackTests {
    private func outcome(_ what: String, mayHide: Bool = false) -> String {
        "outcome: \(what), may hide: \(mayHide)\n"
    }

    @Test("pam_permit confirms presence, and pam_deny does not")
    func permitAndDeny() throws {
        let permit = try Stack(["auth required pam_permit.so", "account required pam_permit.so"])
        #expect(try permit.askBlindly() == "outcome: present\n")
        let deny = try Stack(["auth required pam_deny.so", "account required pam_permit.so"])
        #expect(try deny.askBlindly() == "outcome: absent\n")
    }

    @Test("a recognised person with an expired account is refused, and no attempt is counted")
    func account() throws {
        let stack = try Stack(strange: "agrees", account: "expired")
        let failure = "PAMCallFailure(call: \(pamCall).validateAccount, code: 13)"
        #expect(try stack.askBlindly() == outcome("accountRefused(\(pamDevices)\(failure))"))
    }

    private let pamDevices = "Devices."
    private let pamCall = "Devices.PAMCallFailure.Call"

    @Test("without a service file no module runs, even if a service named “other” exists")
    func noServiceFile() throws {
        let stack = try Stack([])
        try stack.folder.write(
            Array("auth required pam_permit.so\naccount required pam_permit.so\n".utf8),
            to: "pam.d/other")
        #expect(try stack.askBlindly() == outcome("noServiceFile"))
    }

    @Test("a missing module, or one that cannot decide, leads to no verdict")
    func unavailable() throws {
        let missing = try Stack(["auth required /nonexistent.so"])
        #expect(try missing.askBlindly().contains("failed("))
        #expect(try Stack(strange: "unavailable").askBlindly().contains("authenticate, code: 9"))
        let empty = try Stack(["# nothing"])
        #expect(try empty.askBlindly() != "outcome: present\n")
    }

    @Test("a module that crashes or exits leads to no verdict")
    func endings() throws {
        #expect(
            try Stack(strange: "crashes").askBlindly()
                == outcome("ended(WatchwordSystem.ChildProcess.Ending.crashed(signal: 11))"))
        #expect(
            try Stack(strange: "leaves").askBlindly()
                == outcome("ended(WatchwordSystem.ChildProcess.Ending.exited(0))"))
    }

    @Test("a module that sends too many messages is killed", arguments: ["floods", "shouts"])
    func talkative(_ how: String) throws {
        let stack = try Stack(strange: how)
        #expect(try stack.askBlindly() == outcome("talksTooMuch", mayHide: how == "shouts"))
        try stack.waitUntilGone()
    }

    @Test("a module's output is not mistaken for the verdict")
    func prints() throws {
        #expect(try Stack(strange: "prints").askBlindly() == "outcome: absent\n")
    }

    @Test("the modules run with an empty environment and without core dumps")
    func dependencies() throws {
        #expect(try Stack(strange: "looks-around").askBlindly() == "outcome: present\n")
    }

    @Test("O-14 the modules inherit none of their caller's open files")
    func inheritedFiles() throws {
        let stack = try Stack(strange: "looks-for-files")
        let secret = try stack.folder.write(Array("passphrase\n".utf8), to: "pass.txt")
        let inherited = (3..<23).map { "\($0)<'\(secret)'" }.joined(separator: " ")
        let asker = BuiltProgram.path("PresenceAsker")
        let bash = try #require(ForeignProgram("bash"))
        let command = "exec setsid --wait '\(asker)' '\(stack.program)' 60000 \(inherited)"
        #expect(try bash.run(["-c", command]).text == "outcome: present\n")
    }

    @Test("a module's question ends the check without a verdict if there is no terminal")
    func noTerminal() throws {
        #expect(try Stack(strange: "asks-twice").askBlindly() == outcome("noTerminal"))
    }

    @Test("a question that is not text is not shown")
    func binaryQuestion() throws {
        #expect(try Stack(strange: "asks-nothing-known").askBlindly().contains("failed("))
    }

    @Test(
        "a module that hangs is killed at the timeout, along with the programs that it started")
    func hangs() throws {
        let stack = try Stack(strange: "hangs")
        #expect(try stack.askBlindly(timeout: .milliseconds(500)) == outcome("timedOut"))
        try stack.waitUntilGone()
    }
}
