import Foundation
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import ServerCommands

/// The sockets of a server process for programs on this machine.
@Suite("Sockets for logins", .timeLimit(.minutes(5)))
struct LoginSocketTests {
    private let state: ServerProcess.State
    private static let needsRoot: Comment = "only root may use the socket `pam`"

    init() throws { state = try ServerProcess.State() }

    private var path: String { state.folder.file("pam") }

    private func server(_ option: String = "--pam-socket") async throws -> ServerProcess {
        try await ServerProcess(state, arguments: [option, path, "--realm", "mill"])
    }

    private func ask(_ message: LoginMessage) async throws -> String? {
        let bytes = try await LocalClient(path, sending: message.bytes).awaitAnswer()
        return LoginAnswer(bytes)?.description
    }

    @Test(
        "a code that is presented on the socket and over HTTP at the same time is accepted once",
        .enabled(if: geteuid() == 0, needsRoot))
    func race() async throws {
        let key = try await state.makeKey()
        let server = try await server()
        let asker = try Asker(server.port, key: key)
        for user in ["alice", "bob"] {
            let subject = try await EnrolledSubject("unix:mill:\(user)", asker)
            let message = LoginMessage(verifying: subject.code(), of: user)
            let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        number.isMultiple(of: 2)
                            ? try await ask(message) == "accepted"
                            : try await asker.verify(subject.name, subject.code())?
                                .texts["result"] == "accepted"
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(accepted == 1)
        }
        let carol = try await EnrolledSubject("unix:mill:carol", asker)
        #expect(try await ask(LoginMessage(verifying: carol.code(), of: "carol")) == "accepted")
        let metrics = try await Asker(server.operationsPort).ask("GET", "/metrics")?.text
        #expect(metrics?.contains(#"{operation="pam",status="200",outcome="accepted"}"#) == true)
        #expect(try server.logged().contains(#""sockets":"pam","realm":"mill""#))
        #expect(try await server.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(
        "1,280 simultaneous logins of different users are all accepted",
        .enabled(if: geteuid() == 0, needsRoot))
    func manyLogins() async throws {
        let count = 1_280
        try #require(try OpenFileLimit.raise(to: 4_096) >= count + 512)
        let keys = (0..<count).map { number in
            sha256(Array("login \(number)".utf8).span).prefix(20).map { $0 }
        }
        let lines = keys.enumerated().map { "HOTP/T30\tunix:mill:user\($0)\t-\t\(Hex.text($1))\n" }
        let file = try state.folder.write(Array(lines.joined().utf8), to: "users.oath")
        let imported = try await state.run("import", file)
        #expect(imported.status == 0, "\(imported.text)")
        let server = try await server()
        let path = path
        let answers = try await onOwnThread {
            let now = Int64(Date.now.timeIntervalSince1970)
            let requests = try keys.enumerated().map { number, key in
                let generator = CodeGenerator(
                    key: SecretBytes(copying: key.span), algorithm: .sha1, style: .decimal(.six))
                let step = UInt64(now / 30)
                let code = generator.code(at: step).text
                return try LocalClient(
                    path, sending: LoginMessage(verifying: code, of: "user\(number)").bytes)
            }
            return try requests.map { LoginAnswer(try $0.answer())?.description }
        }
        #expect(answers == [String?](repeating: "accepted", count: count))
        #expect(try await server.stop() == 0)
    }

    @Test("a user's programs may ask only about that user, whom the kernel identifies")
    func own() async throws {
        let name = try #require(UserDatabase.name(of: geteuid()))
        let key = try await state.makeKey()
        let server = try await server("--self-socket")
        let asker = try Asker(server.port, key: key)
        let own = try await EnrolledSubject("unix:mill:\(name)", asker)
        let other = try await EnrolledSubject("unix:mill:somebody", asker)
        #expect(try mode(of: path) == 0o666)
        let foreign = LoginMessage(verifying: other.code(), of: "somebody")
        #expect(try await ask(foreign) == "denied")
        #expect(try await ask(LoginMessage(statusOf: "somebody")) == "unavailable")
        #expect(try await ask(LoginMessage(statusOf: name)) == "enrolled")
        #expect(try await ask(LoginMessage(verifying: own.code(), of: name)) == "accepted")
        #expect(try await asker.verify(other.name, other.code())?.texts["result"] == "accepted")
        #expect(try await server.stop() == 0)
    }

    @Test("a socket of a killed server is replaced, and a socket in use is not")
    func replacing() async throws {
        let killed = try await server("--self-socket")
        let failure = await #expect(throws: ServerProcess.Failure.self) {
            _ = try await ServerProcess(
                ServerProcess.State(), arguments: ["--self-socket", path, "--realm", "mill"])
        }
        guard case .notListening(let words) = failure else { return }
        #expect(words.contains("a different server listens here"), "\(words)")
        killed.send(SIGKILL)
        #expect(try await killed.ending() == -SIGKILL)
        let next = try await server("--self-socket")
        #expect(try await ask(LoginMessage(statusOf: "nobody at all")) == "unavailable")
        #expect(try await next.stop() == 0)
    }

    @Test("options that cannot work are refused, with the reason")
    func options() async throws {
        let open = state.folder.file("open")
        try makeFolder(open)
        try setMode(0o777, of: open)
        for (arguments, status, words) in [
            (["--realm", "Mill"], 2, "--realm"),
            (["--pam-socket", "\(open)/s", "--realm", "mill"], 3, "other users can write"),
            (["--pam-socket", state.folder.file("no/s"), "--realm", "mill"], 6, "no/s"),
        ] {
            let outcome = try await onOwnThread { [state] in
                try ForeignProgram(path: BuiltProgram.path("watchword-server"))
                    .run(["serve"] + arguments, environment: state.environment)
            }
            #expect(outcome.status == status, "\(arguments)")
            let errors = String(decoding: outcome.errors, as: UTF8.self)
            #expect(errors.contains(words), "\(errors)")
        }
    }

    @Test("V-01 the documentation states how many connections the login sockets serve")
    func documentation() throws {
        let page = try String(
            contentsOf: PackageFolder.root.appending(
                path: "Sources/Programs/ServerCommands/Operations.md"),
            encoding: .utf8)
        for socket in [LocalSocketOptions.Socket.pam, .own] {
            let words = "**`\(socket.rawValue)`** serves \(socket.connections) connections"
            #expect(page.contains(words), "\(words)")
        }
    }

    @Test(
        "a service manager passes sockets by name, and an unknown name is refused",
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: activator),
            "systemd-socket-activate is not installed"))
    func passed() async throws {
        let cases: [(String, String?)] = [
            ("self", nil), ("web", "whose name is not pam, self or enrol"),
        ]
        for (name, words) in cases {
            let log = try state.folder.write([], to: name)
            let arguments =
                [Self.activator, "-l", path, "--fdname=\(name)"]
                + state.environment.map { "-E\($0.key)=\($0.value)" }
                + [BuiltProgram.path("watchword-server"), "serve", "--realm", "mill"]
                + ["--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"]
            // The launcher closes all open files that it inherits; Foundation mistakes this for its
            // end.
            let script = #"log=$0; setsid "$@" </dev/null >/dev/null 2>"$log" & echo $!"#
            let started = try await onOwnThread {
                try ForeignProgram(path: "/bin/sh").run(["-c", script, log] + arguments)
            }
            let process = try #require(Int32(started.text.filter(\.isNumber)))
            defer { kill(process, SIGKILL) }
            func logged() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }
            // The launcher starts the server for the first connection.
            while try !logged().contains("Listening on") {
                try await Task.sleep(for: .milliseconds(5))
            }
            let answer = try await ask(LoginMessage(statusOf: "nobody at all"))
            #expect(answer == (words == nil ? "unavailable" : nil))
            if let words { #expect(try logged().contains(words)) }
            try removeFile(path)
        }
    }

    private static let activator = "/usr/bin/systemd-socket-activate"
}
