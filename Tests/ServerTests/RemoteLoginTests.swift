import Foundation
import TestSupport
import Testing

/// `watchword-pam-remote` and a real server, over TLS with the test's own authority.
@Suite struct RemoteLoginTests {
    /// A server with the user `alice` of a realm, and the files of the helper.
    private struct Harness {
        static let realm = "mill.example"

        let server: ServerProcess
        let alice: EnrolledSubject
        var folder: TemporaryFolder { server.state.folder }
        var address: String { "https://127.0.0.1:\(server.port)" }

        init() async throws {
            let state = try ServerProcess.State()
            try makeTestIdentity("a", in: state.folder)
            // The first server enrols the user without TLS.
            let plain = try await ServerProcess(state)
            let asker = try Asker(plain.port, key: try await state.makeKey())
            alice = try await EnrolledSubject("unix:\(Self.realm):alice", asker, period: 120)
            try await plain.stop()
            server = try await ServerProcess(
                state,
                arguments: [
                    "--tls-certificate", state.folder.file("a.pem"),
                    "--tls-key", state.folder.file("a.key"),
                ])
            try await useKey(of: "mill", "verify,read,reasons")
        }

        /// Gives the helper the API key of a new client with these scopes, as the manual page does.
        func useKey(of client: String, _ scopes: String) async throws {
            let added = try await server.state.run(
                "client", "add", client, "--scope", scopes, "--subjects", "unix:\(Self.realm):")
            try write(added.text, to: "key")
        }

        /// Writes a file that only its owner can access, unless `mode` is different.
        func write(_ text: String, to name: String, mode: Int = 0o600) throws {
            try folder.write(Array(text.utf8), to: name)
            try setMode(mode, of: folder.file(name))
        }

        /// Runs the helper; `more` overrides options.
        func ask(_ message: LoginMessage, _ more: [String: String] = [:]) async throws -> Reply {
            try await ask(message.bytes, more)
        }

        /// Runs the helper with a request that may be malformed.
        func ask(_ message: [UInt8], _ more: [String: String] = [:]) async throws -> Reply {
            let options = [
                "--server": address, "--key": folder.file("key"), "--ca": folder.file("a.pem"),
                "--realm": Self.realm, "--timeout": "20",
            ].merging(more) { $1 }
            let outcome = try await onOwnThread {
                try ForeignProgram(path: BuiltProgram.path("watchword-pam-remote"))
                    .run(options.flatMap { [$0, $1] }, input: message)
            }
            return Reply(
                answer: LoginAnswer(outcome.output)?.description,
                errors: String(decoding: outcome.errors, as: UTF8.self))
        }
    }

    /// The output of the helper.
    private struct Reply {
        /// The response in words; `nil` if it is malformed.
        let answer: String?
        let errors: String
    }

    @Test("a code from a user of the realm is accepted once")
    func codes() async throws {
        let harness = try await Harness()
        let login = LoginMessage(verifying: harness.alice.code(), of: "alice")
        let first = try await harness.ask(login)
        #expect(first.answer == "accepted" && first.errors.isEmpty, "\(first)")
        #expect(try await harness.ask(login).answer == "denied")
        // The user alice of a different machine is a different subject, which this API key may not
        // access.
        let next = LoginMessage(verifying: harness.alice.code(2), of: "alice")
        #expect(try await harness.ask(next, ["--realm": "other.example"]).answer == "unavailable")
        #expect(try await harness.server.stop() == 0)
    }

    @Test("reasons are returned if the request asks for them and the API key has the scope")
    func reasons() async throws {
        let harness = try await Harness()
        let code = harness.alice.code()
        _ = try await harness.ask(LoginMessage(verifying: code, of: "alice"))
        for (user, code, reason) in [
            ("alice", code, ", replayed"), ("alice", "12x", ", malformed"), ("bob", "123456", ""),
        ] {
            var login = LoginMessage(verifying: code, of: user, wantingReasons: true)
            #expect(try await harness.ask(login).answer == "denied\(reason)", "\(user) \(code)")
            login.wantsReasons = false
            #expect(try await harness.ask(login).answer == "denied", "\(user) \(code)")
        }
        try await harness.useKey(of: "limited", "verify")
        let limited = LoginMessage(verifying: code, of: "alice", wantingReasons: true)
        #expect(try await harness.ask(limited).answer == "denied")
        #expect(try await harness.server.stop() == 0)
    }

    @Test("the status lists users who never had a second factor")
    func status() async throws {
        let harness = try await Harness()
        #expect(try await harness.ask(LoginMessage(statusOf: "alice")).answer == "enrolled")
        #expect(try await harness.ask(LoginMessage(statusOf: "bob")).answer == "never enrolled")
        try await harness.useKey(of: "limited", "verify")
        let refused = try await harness.ask(LoginMessage(statusOf: "bob"))
        #expect(
            refused.answer == "unavailable" && refused.errors.contains("scopes verify and read"))
        #expect(try await harness.server.stop() == 0)
    }

    @Test("whatever the fault, nothing is decided, and one line says why")
    func failures() async throws {
        let harness = try await Harness()
        let login = LoginMessage(verifying: harness.alice.code(), of: "alice")
        try harness.write("wwk_unknown\n", to: "unknown")
        try harness.write("wwk_known\n", to: "open", mode: 0o640)
        try harness.write("not a key\n", to: "text")
        try makeTestIdentity("b", in: harness.folder)
        let unused = try FreePort.find()
        for (options, words) in [
            (["--ca": harness.folder.file("b.pem")], "is signed by an unknown authority"),
            (["--ca": harness.folder.file("missing")], "cannot be read"),
            (["--key": harness.folder.file("unknown")], "does not recognise this API key"),
            (["--key": harness.folder.file("open")], "nobody else can read"),
            (["--key": harness.folder.file("missing")], "not a file of root"),
            (["--key": harness.folder.file("text")], "does not begin with an API key"),
            (["--server": "http://mill.example"], "an https:// URL"),
            (
                ["--server": "https://127.0.0.1:\(unused)"],
                "cannot connect to https://127.0.0.1:\(unused): "
            ),
            (["--realm": "Mill"], "realm="), (["--timeout": "soon"], "timeout="),
        ] {
            let reply = try await harness.ask(login, options)
            #expect(reply.answer == "unavailable", "\(options)")
            #expect(
                reply.errors.contains(words) && reply.errors.count { $0 == "\n" } == 1,
                "\(reply.errors)")
        }
        for message in [[], Array(login.bytes.dropLast()), [UInt8](repeating: 0, count: 512)] {
            let reply = try await harness.ask(message)
            #expect(reply.answer == "unavailable" && !reply.errors.isEmpty)
        }
        // None of these attempts has spent the code.
        #expect(try await harness.ask(login).answer == "accepted")
        #expect(try await harness.server.stop() == 0)
    }
}
