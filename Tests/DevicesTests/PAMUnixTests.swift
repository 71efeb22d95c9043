import Foundation
import Glibc
import TestSupport
import Testing

/// pam_unix, the module that asks for the login password, with the test's own user database.
@Suite(
    .enabled(
        if: UserDatabaseWrapper.path != nil,
        "libnss_wrapper.so (Debian: libnss-wrapper) is not there, so pam_unix is not tried"))
struct PAMUnixTests {
    /// The output of `openssl passwd -6 -salt watchword 'right password'`.
    private static let password =
        "$6$watchword$t1W8re1iL7mpCxXYQfh96Ca5v8AtJHQhHSXMYs5BaUhYFFPc86e88fKhbyL7nQeIxwtIf1hyPnjO7oXcJ3CRH/"

    /// A stack in which the user of this process is called `tester` and has the password with
    /// `hash`.
    ///
    /// The hash is in `passwd` itself, so that pam_unix needs neither access to `shadow` nor its
    /// privileged helper; this works for root and for any other user.
    private func stack(hash: String, number: uid_t = getuid()) throws -> Stack {
        let library = try #require(UserDatabaseWrapper.path)
        let stack = try Stack([
            "auth required pam_unix.so nullok nodelay", "account required pam_unix.so",
        ])
        let folder = stack.folder
        let line = "tester:\(hash):\(number):\(getgid())::/:/bin/sh\n"
        let users = try folder.write(Array(line.utf8), to: "passwd")
        let groups = try folder.write(Array("tester:x:\(getgid()):\n".utf8), to: "group")
        let environment = [
            "LD_PRELOAD=\(library)", "NSS_WRAPPER_PASSWD=\(users)", "NSS_WRAPPER_GROUP=\(groups)",
        ]
        try folder.write(Array(environment.joined(separator: "\n").utf8), to: "environment")
        return stack
    }

    @Test(
        "the login password is accepted, and a wrong one is not",
        arguments: [("right password", "present"), ("wrong password", "absent"), ("", "absent")])
    func password(_ typed: String, _ outcome: String) throws {
        let terminal = try stack(hash: Self.password).askOnTerminal()
        try terminal.waitFor("Password: ")
        #expect(try terminal.settings().echoes == false)
        try terminal.type(typed + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("outcome: \(outcome)"))
        #expect(!terminal.screen.contains("password\r\n"))
    }

    @Test("an account without a password is refused, even if the service file allows it")
    func emptyPassword() throws {
        let terminal = try stack(hash: "").askOnTerminal()
        try terminal.waitFor("Password: ")
        try terminal.type("\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("outcome: absent"))
    }

    @Test("a user without a name is reported")
    func noName() throws {
        let stack = try stack(hash: Self.password, number: getuid() + 1)
        #expect(try stack.askBlindly() == "outcome: noUserName, may hide: false\n")
    }
}
