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

    /// A server, and a system whose users have home folders.
    private struct System {
        let state: ServerProcess.State
        let key: String
        let homes: TemporaryFolder
        private let users: [String]

        init(_ users: [String]) async throws {
            state = try ServerProcess.State()
            // A dry run needs a database.
            key = try await state.makeKey()
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
            // The user can also read the files of others, so only the owner matters.
            try #require(unsafe chmod(homes.file(name), owner == nil ? 0o400 : 0o444) == 0)
            try own(name, owner ?? user)
        }

        func own(_ name: String, _ owner: String) throws {
            let number = number(of: owner)
            try #require(unsafe chown(homes.file(name), number, number) == 0)
        }

        /// The environment in which a program sees these users.
        var wrapper: [String: String] {
            get throws {
                [
                    "LD_PRELOAD": try #require(UserDatabaseWrapper.path),
                    "NSS_WRAPPER_PASSWD": homes.file("passwd"),
                    "NSS_WRAPPER_GROUP": homes.file("group"),
                ]
            }
        }

        /// Imports the users' keys.
        ///
        /// - Parameter folder: a folder whose files appear in `/etc`, but only for the program.
        func run(
            _ arguments: [String] = [], adding folder: String? = nil
        ) async throws -> (Int32, String) {
            let environment = try state.environment.merging(wrapper) { $1 }
            let program = BuiltProgram.path("watchword-server")
            let outcome = try await onOwnThread {
                try ForeignProgram(path: "/usr/bin/env").run(
                    (folder.map(PAMImportTests.adding) ?? [])
                        + [program, "import", "--pam", "--realm", "mill.example"] + arguments,
                    environment: environment)
            }
            let words = outcome.text + String(decoding: outcome.errors, as: UTF8.self)
            return (outcome.status, words.replacing(homes.path, with: "HOMES"))
        }
    }

    /// A command that runs its arguments in a separate mount namespace, with the files of a folder
    /// added to `/etc`.
    private static func adding(_ folder: String) -> [String] {
        let script = #"mount -t overlay -o "lowerdir=/etc:$0" none /etc && exec "$@""#
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, folder]
    }

    private static func code(_ step: UInt64, _ key: SecretBytes) -> String {
        CodeGenerator.code(at: step, key: key, algorithm: .sha1, style: .decimal(.six)).text
    }

    @Test("each user's own key is imported, and no other file is read")
    func files() async throws {
        let system = try await System(["alice", "bob", "dan", "eve", "fay", "guy"])
        try system.write(Self.file, for: "alice")
        try linkSymbolically(system.path(of: "alice"), to: system.path(of: "bob"))
        try system.write(Self.file, for: "dan", ownedBy: "alice")
        // The file names a different user.
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
            try await system.run(["--dry-run"])
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
        let asker = try Asker(server.port, key: system.key)
        let step = UInt64(Date().timeIntervalSince1970 / 30)
        for (user, result) in [("alice", "accepted"), ("dan", "denied"), ("bob", "denied")] {
            let texts = try await asker.verify(
                "unix:mill.example:\(user)", Self.code(step, Self.key))?.texts
            #expect(texts?["result"] == result, "\(user)")
        }
        try await server.stop()
    }

    @Test(
        "N-33 root's file of all users also adds keys for users who already have one",
        .enabled(
            if: try ForeignProgram(path: "/usr/bin/env").run(adding("/usr") + ["true"]).status == 0,
            "needs the right to mount an overlay on /etc"))
    func usersFile() async throws {
        let system = try await System(["alice"])
        try system.write(Self.file, for: "alice")
        let folder = try TemporaryFolder()
        let keys = ["alice - 31323334353637383930", "bob - 30393837363534333231"]
        let lines = keys.map { "HOTP/T30/6 \($0)3132333435363738393031\n" }
        let report = """
            HOMES/alice/.google_authenticator: row 1: unix:mill.example:alice: already present
            /etc/users.oath: row 1: unix:mill.example:alice: imported
            /etc/users.oath: row 2: unix:mill.example:bob: imported
            2 files: 2 imported, 1 already present, 0 refused, 0 not read; 1 emergency codes left out

            """
        try #require(try await system.run().0 == 0)
        try folder.write(Array(lines.joined().utf8), to: "users.oath")
        #expect(try await system.run(adding: folder.path) == (0, report))
        // A file of a different user is ignored.
        try #require(unsafe chown(folder.file("users.oath"), 4_000, 4_000) == 0)
        #expect(try await system.run(adding: folder.path).1.contains("another user (ID 4000)"))
    }

    @Test("N-33 a user with a second factor gets no key from a home folder, as in the transcript")
    func transcript() async throws {
        let system = try await System(["alice", "bob"])
        try await ServerTranscriptTests.run(
            "machine/import-pam.transcript", in: system.homes,
            environment: system.wrapper.merging(["XDG_STATE_HOME": system.state.folder.path]) { $1 }
        )
    }

    @Test(
        "a file from the real google-authenticator is imported, and its first line is the key",
        .enabled(
            if: ForeignProgram("google-authenticator") != nil,
            "google-authenticator (Debian: libpam-google-authenticator) is not installed"))
    func realFile() async throws {
        let program = try #require(ForeignProgram("google-authenticator"))
        let system = try await System(["alice"])
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
        let asker = try Asker(server.port, key: system.key)
        let step = UInt64(Date().timeIntervalSince1970 / 30)
        let texts = try await asker.verify("unix:mill.example:alice", Self.code(step, key))?.texts
        #expect(texts?["result"] == "accepted")
        try await server.stop()
    }
}
