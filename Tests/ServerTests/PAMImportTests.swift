import Foundation
import Glibc
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

/// `watchword-server import --pam`, with a user database of the test's own.
@Suite(
    .enabled(
        if: geteuid() == 0 && UserDatabaseWrapper.path != nil
            && !FileManager.default.fileExists(atPath: "/etc/users.oath"),
        "only root can read all users' files; libnss_wrapper.so (Debian: libnss-wrapper) is needed"
    ))
struct PAMImportTests {
    private static let key = SecretBytes(text: "abcdefghijabcdefghij")
    private static let file = """
        MFRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK
        " WINDOW_SIZE 17
        " DISALLOW_REUSE
        " TOTP_AUTH
        12345678

        """

    /// A server, and a system with users who have home folders.
    private struct System {
        let state: ServerProcess.State
        let homes: TemporaryFolder
        private let users: [String]

        init(_ users: [String]) throws {
            state = try ServerProcess.State()
            homes = try TemporaryFolder()
            self.users = users
            try #require(unsafe chmod(homes.path, 0o755) == 0)
            for user in users {
                try makeFolder(homes.file(user))
                try own(user, user)
            }
            let lines = users.map { user in
                "\(user):x:\(number(of: user)):\(number(of: user))::\(homes.file(user)):/bin/sh\n"
            }
            try homes.write(Array(lines.joined().utf8), to: "passwd")
            try homes.write([], to: "group")
        }

        private func number(of user: String) -> UInt32 {
            4_000 + UInt32(users.firstIndex(of: user) ?? users.count)
        }

        /// The path of the user's key.
        func path(of user: String) -> String { homes.file("\(user)/.google_authenticator") }

        /// Writes a file for a user; it belongs to `owner`.
        func write(_ text: String, for user: String, ownedBy owner: String? = nil) throws {
            let name = "\(user)/.google_authenticator"
            try homes.write(Array(text.utf8), to: name)
            try #require(unsafe chmod(homes.file(name), 0o400) == 0)
            try own(name, owner ?? user)
        }

        func own(_ name: String, _ owner: String) throws {
            let number = number(of: owner)
            try #require(unsafe chown(homes.file(name), number, number) == 0)
        }

        /// Imports the users' keys.
        func run(_ arguments: String...) async throws -> (Int32, String) {
            let library = try #require(UserDatabaseWrapper.path)
            let environment = state.environment.merging([
                "LD_PRELOAD": library, "NSS_WRAPPER_PASSWD": homes.file("passwd"),
                "NSS_WRAPPER_GROUP": homes.file("group"),
            ]) { $1 }
            let outcome = try await onOwnThread {
                try ForeignProgram(path: BuiltProgram.path("watchword-server"))
                    .run(
                        ["import", "--pam", "--realm", "mill.example"] + arguments,
                        environment: environment)
            }
            let words = outcome.text + String(decoding: outcome.errors, as: UTF8.self)
            return (outcome.status, words.replacing(homes.path, with: "HOMES"))
        }
    }

    private static func code(_ step: UInt64, _ key: SecretBytes) -> String {
        CodeGenerator.code(at: step, key: key, algorithm: .sha1, style: .decimal(.six)).text
    }

    @Test("each user's own key is imported, and no other file is read")
    func files() async throws {
        let system = try System(["alice", "bob", "dan", "eve", "fay", "guy"])
        try system.write(Self.file, for: "alice")
        try linkSymbolically(system.path(of: "alice"), to: system.path(of: "bob"))
        try system.write(Self.file, for: "dan", ownedBy: "alice")
        // A file that names another user.
        try system.write(
            "HOTP/T30/6 alice - 3132333435363738393031323334353637383930\n", for: "eve")
        try system.write(String(repeating: "A", count: 70_000), for: "guy")
        let report = """
            HOMES/bob/.google_authenticator: the file is a symbolic link, which is not followed
            HOMES/dan/.google_authenticator: the file belongs to another user (ID 4000)
            HOMES/eve/.google_authenticator: an OATH users file, which is not expected there
            HOMES/guy/.google_authenticator: the file exceeds 65536 bytes
            HOMES/alice/.google_authenticator: row 1: unix:mill.example:alice: imported
            5 files: 1 imported, 0 already present, 0 refused, 4 not read; 1 emergency codes left out

            """
        #expect(
            try await system.run("--dry-run")
                == (1, report.dropLast() + "; dry run, nothing was changed\n"))
        #expect(try await system.run() == (1, report))
        #expect(
            try await system.run()
                == (
                    1,
                    report.replacing(": imported", with: ": already present")
                        .replacing("1 imported, 0", with: "0 imported, 1")
                ))
        let server = try await ServerProcess(system.state)
        let asker = try Asker(server.port, key: try await system.state.makeKey())
        let step = UInt64(Date().timeIntervalSince1970 / 30)
        for (user, result) in [("alice", "accepted"), ("dan", "denied"), ("bob", "denied")] {
            let texts = try await asker.verify(
                "unix:mill.example:\(user)", Self.code(step, Self.key))?.texts
            #expect(texts?["result"] == result, "\(user)")
        }
        try await server.stop()
    }

    @Test("the result as JSON names each file")
    func json() async throws {
        let system = try System(["alice", "bob"])
        try system.write(Self.file, for: "alice")
        try system.write(Self.file, for: "bob", ownedBy: "alice")
        let lines = try await system.run("--json", "--dry-run").1.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(
            lines.first?.contains(
                #""file":"HOMES/bob/.google_authenticator","result":"unread""#) == true)
        #expect(lines.last?.contains(#""unread":1"#) == true)
    }

    @Test("--pam takes no FILE, and no user's name")
    func usage() async throws {
        let system = try System(["alice"])
        for arguments in [["users.oath"], ["--subject", "alice"]] {
            #expect(try await system.run(arguments[0], arguments.last ?? "").0 == 2)
        }
    }

    @Test(
        "a file of the real google-authenticator is imported, and its first line is the key",
        .enabled(
            if: ForeignProgram("google-authenticator") != nil,
            "google-authenticator (Debian: libpam-google-authenticator) is not installed"))
    func realFile() async throws {
        let program = try #require(ForeignProgram("google-authenticator"))
        let system = try System(["alice"])
        let path = system.path(of: "alice")
        let made = try program.run([
            "--time-based", "--disallow-reuse", "--force", "--rate-limit=3", "--rate-time=30",
            "--window-size=3", "--quiet", "--secret=\(path)",
        ])
        try #require(made.status == 0)
        try system.own("alice/.google_authenticator", "alice")
        #expect(
            try await system.run()
                == (
                    0,
                    """
                    HOMES/alice/.google_authenticator: row 1: unix:mill.example:alice: imported
                    1 files: 1 imported, 0 already present, 0 refused, 0 not read; \
                    5 emergency codes left out

                    """
                ))
        let line = try system.homes.bytes(of: "alice/.google_authenticator").prefix {
            $0 != UInt8(ascii: "\n")
        }
        let key = try Base32.decode(Array(line).span, padding: .omitted)
        let server = try await ServerProcess(system.state)
        let asker = try Asker(server.port, key: try await system.state.makeKey())
        let step = UInt64(Date().timeIntervalSince1970 / 30)
        let texts = try await asker.verify("unix:mill.example:alice", Self.code(step, key))?.texts
        #expect(texts?["result"] == "accepted")
        try await server.stop()
    }
}
