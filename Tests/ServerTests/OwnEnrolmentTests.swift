import Foundation
import Glibc
import OneTimePassword
import Synchronization
import TestSupport
import Testing

@testable import Devices
@testable import WatchwordSystem

/// `watchword-enrol` with a running server, for the user of this process.
struct OwnEnrolmentTests {
    /// A server with a socket for enrolments, and the programs that the service manager would start
    /// for it.
    private struct Machine {
        let server: ServerProcess
        /// The service that checks login passwords; `nil` if there is none.
        let presence: Manager?
        let notices: Manager
        let socket: String

        init(checkingPasswords: Bool = true) async throws {
            let state = try ServerProcess.State()
            let folder = state.folder
            socket = folder.file("enrol")
            presence =
                try checkingPasswords
                ? Manager(at: folder.file("presence")) { connection, _ in
                    try checkPassword(over: connection)
                } : nil
            notices = try Manager(at: folder.file("notice")) { connection, seen in
                seen(String(decoding: try connection.bytes(atMost: 10_000), as: UTF8.self))
            }
            server = try await ServerProcess(
                state,
                arguments: [
                    "--realm", "mill.example", "--enrol-socket", socket, "--presence-socket",
                    folder.file("presence"), "--notice-socket", folder.file("notice"),
                ])
        }

        /// Runs `watchword-enrol` on a terminal.
        func terminal(_ command: String) throws -> PseudoTerminal {
            try PseudoTerminal(
                "watchword-enrol \(command) --socket \(socket)", in: TemporaryFolder())
        }

        /// Runs `watchword-enrol` without a terminal.
        func run(_ arguments: String...) throws -> ForeignProgram.Outcome {
            let setsid = try #require(ForeignProgram("setsid"))
            return try setsid.run(
                ["--wait", BuiltProgram.path("watchword-enrol")] + arguments
                    + ["--socket", socket])
        }

        /// Enrols the first authenticator.
        func enrolFirst() throws -> (Credential, PseudoTerminal) {
            let terminal = try terminal("add --name phone")
            try terminal.waitFor("Password: ")
            try terminal.type("right\n")
            try terminal.waitFor("Code that the app shows now: ")
            let uri = try #require(
                terminal.screen.split(whereSeparator: \.isWhitespace).first {
                    $0.hasPrefix("otpauth://")
                })
            let credential = try KeyURI(parsing: Array(uri.utf8).span, reading: .strict).credential
            try terminal.type(OwnEnrolmentTests.code(credential) + "\n")
            return (credential, terminal)
        }
    }

    /// Listens at a path, and serves one connection after the other.
    private final class Manager: Sendable {
        private let record: Record
        private let thread: WorkerThread

        /// The texts that were received so far.
        var seen: [String] { record.texts.withLock { $0 } }

        /// Waits until this many texts were received.
        func see(_ count: Int) async -> [String] {
            while seen.count < count { await Task.yield() }
            return seen
        }

        init(
            at path: String,
            serving serve:
                @escaping @Sendable (borrowing FileDescriptor, (String) -> Void) throws -> Void
        ) throws {
            let (record, listener) = (Record(), Listener(try LocalSocket.listen(at: path)))
            self.record = record
            thread = try #require(
                WorkerThread {
                    while !record.isOver.load(ordering: .relaxed) {
                        do {
                            try listener.next { connection in
                                try serve(connection) { text in
                                    record.texts.withLock { $0.append(text) }
                                }
                            }
                        } catch {
                            Issue.record(error)
                        }
                    }
                })
        }

        deinit {
            record.isOver.store(true, ordering: .relaxed)
            thread.join()
        }

        private final class Record: Sendable {
            let texts = Mutex<[String]>([])
            let isOver = Atomic(false)
        }

        private final class Listener: Sendable {
            private let socket: FileDescriptor

            init(_ socket: consuming FileDescriptor) { self.socket = socket }

            /// Serves the next connection, if there is one soon.
            func next(_ serve: (borrowing FileDescriptor) throws -> Void) throws {
                let ready = try Polling.ready(
                    of: [.reading(socket)], timeout: .milliseconds(20))
                guard ready[0] else { return }
                let connection = try LocalSocket.accept(from: socket)
                try connection.setBlocking(true)
                try serve(connection)
            }
        }
    }

    private struct NoConnection: Error {}

    /// Acts as `watchword-presence --peer`, for a user with the password `right`.
    private static func checkPassword(over server: borrowing FileDescriptor) throws {
        guard let connection = try server.receiveFile()?.takeFile() else { throw NoConnection() }
        #expect(try LocalSocket.peer(of: connection).user == getuid())
        let person = FrameConnection(connection)
        for frame in [
            ModuleFrame.ready(version: ModuleFrame.version),
            .asks("Password: ", isEchoed: false),
        ] { _ = try person.send(FrameWriter(frame), timeout: .seconds(60)) }
        let received = try person.receive(
            limit: ModuleAnswer.largestFrame, idleTime: .seconds(60), timeout: nil)
        // A missing answer leads to no verdict.
        guard case .frame(let frame) = received, let answer = ModuleAnswer(parsing: frame) else {
            return
        }
        let isRight = answer.withBytes { bytes in
            bytes.indices.map { bytes[$0] } == Array("right".utf8)
        }
        let verdict = isRight ? ModuleVerdict.granted : .denied
        _ = try person.send(FrameWriter(ModuleFrame.verdict(verdict)), timeout: .seconds(60))
        try FrameWriter(verdict).write(to: server)
    }

    private static func code(_ credential: Credential) throws -> String {
        let step = try credential.step(atUnixTime: Int64(Date().timeIntervalSince1970))
        return credential.generator().code(at: step).text
    }

    private static func isRecoveryCode(_ text: String) -> Bool {
        text.split(separator: "-").map(\.count) == [4, 4, 4, 4]
    }

    @Test("a user enrols on a terminal, gets recovery codes, and is notified")
    func first() async throws {
        let machine = try await Machine()
        let (credential, terminal) = try machine.enrolFirst()
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("█") && !terminal.screen.contains("right"))
        let codes = terminal.screen.split(whereSeparator: \.isNewline).map(String.init)
            .filter(Self.isRecoveryCode)
        #expect(codes.count == 10)
        let list = try machine.run("list", "--json")
        #expect(list.status == 0)
        let lines = list.text.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains(#""name":"phone""#))
        // The password is no longer sufficient.
        let again = try machine.terminal("add")
        try again.waitFor("or a recovery code: ")
        try again.type(codes[0] + "\n")
        try again.waitFor("Code that the app shows now: ")
        try again.type("\u{4}")
        #expect(try again.end() == 4)
        #expect(again.screen.contains("the authenticator is not enrolled"))
        let account = try #require(UserDatabase.name(of: getuid()))
        #expect(credential.account == account && credential.issuer == "mill.example")
        let mails = await machine.notices.see(2)
        #expect(mails.count == 2 && mails.allSatisfy { $0.hasPrefix("To: \(account)\n") })
        #expect(mails.first?.contains("An authenticator “phone” was added to") == true)
        #expect(try await machine.server.state.run("audit", "verify").status == 0)
        try await machine.server.stop()
    }

    @Test("without the password, or without a terminal, nothing is enrolled")
    func refused() async throws {
        let machine = try await Machine()
        let terminal = try machine.terminal("add")
        try terminal.waitFor("Password: ")
        try terminal.type("wrong\n")
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("not accepted; nothing was changed"))
        let blind = try machine.run("add")
        #expect(blind.status == 4)
        #expect(try machine.run("list", "--json").text == "")
        #expect(try machine.run("recovery-codes").status == 5)
        #expect(try machine.run("remove", "cr_KmKyYnGYQFSJZfTPpJH4xw").status == 1)
        #expect(machine.notices.seen == [])
        try await machine.server.stop()
    }

    @Test("if nothing checks the login password, the user is told to ask for a ticket")
    func noPasswordCheck() async throws {
        let machine = try await Machine(checkingPasswords: false)
        let outcome = try machine.run("add")
        #expect(outcome.status == 5)
        #expect(String(decoding: outcome.errors, as: UTF8.self).contains("add --ticket"))
        try await machine.server.stop()
        #expect(try machine.server.logged().contains("password-not-checked"))
    }

    @Test("each command asks and prints on a terminal as in the transcript")
    func transcript() async throws {
        let machine = try await Machine()
        let folder = machine.server.state.folder
        let environment = [
            "SOCKET": "--socket \(machine.socket)", "XDG_STATE_HOME": folder.path,
        ]
        let name = "machine/enrol.transcript"
        var (before, used) = ("", 0)
        for step in try Transcript(named: name).steps {
            let terminal = try PseudoTerminal(step.command, in: folder, environment: environment)
            let (status, shown) = try step.run(on: terminal) { question, text in
                guard question.answer == "…" else { return question.answer }
                let words = (before + text).split(whereSeparator: \.isWhitespace).map(String.init)
                if question.text.contains("recovery code") {
                    used += 1
                    return words.filter(Self.isRecoveryCode)[used - 1]
                }
                let isTicket = question.text.contains("Ticket")
                let word = try #require(
                    words.last { $0.hasPrefix(isTicket ? "wwt_" : "otpauth://") })
                return try isTicket
                    ? word
                    : Self.code(
                        KeyURI(parsing: Array(word.utf8).span, reading: .strict).credential)
            }
            before += shown
            let place = "\(name), line \(step.line): \(step.command)"
            #expect(status == step.status, "\(place)")
            // Each line of a QR code begins with its colours.
            let lines = shown.split(separator: "\n", omittingEmptySubsequences: false)
                .filter { !$0.hasPrefix("\u{1B}[") }
            #expect(
                Transcript.matches(Array(lines.joined(separator: "\n").utf8), step.output),
                "\(place)\nshowed:\n\(shown)")
        }
        try await machine.server.stop()
    }

    @Test("a server that stops ends the conversations without waiting for the users")
    func stop() async throws {
        let machine = try await Machine()
        let terminal = try machine.terminal("add --ticket")
        try terminal.waitFor("Ticket from the administrator: ")
        try await machine.server.stop()
        #expect(try terminal.end() == 4)
        #expect(try machine.run("list").status == 6)
    }
}
