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

        init(scopes: String = "verify,read,reasons") async throws {
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
            try write("\(try await state.makeKey(scopes))\n", to: "key")
        }

        /// Writes a file that only its owner can access, unless `mode` says otherwise.
        func write(_ text: String, to name: String, mode: Int = 0o600) throws {
            try folder.write(Array(text.utf8), to: name)
            try setMode(mode, of: folder.file(name))
        }

        /// Runs the helper; `more` replaces options.
        func ask(
            _ message: [UInt8], _ more: [String: String] = [:]
        ) async throws -> ForeignProgram.Outcome {
            let options = [
                "--server": address, "--key": folder.file("key"), "--ca": folder.file("a.pem"),
                "--realm": Self.realm, "--timeout": "20",
            ].merging(more) { $1 }
            return try await onOwnThread {
                try ForeignProgram(path: BuiltProgram.path("watchword-pam-remote"))
                    .run(options.flatMap { [$0, $1] }, input: message)
            }
        }
    }

    /// A request of the PAM module: about a code, or else about the user's status.
    private static func request(
        _ user: String, code: String? = nil, reasons: Bool = false
    ) -> [UInt8] {
        guard let code else { return LoginMessage(statusOf: user).bytes }
        return LoginMessage(verifying: code, of: user, wantingReasons: reasons).bytes
    }

    /// The beginning of a response, and its other bytes, which are zero.
    private static func response(_ verdict: UInt8, reason: UInt8 = 0) -> [UInt8] {
        Array("WWR1".utf8) + [verdict, reason] + [UInt8](repeating: 0, count: 26)
    }

    @Test("a code of a user of the realm is accepted once")
    func codes() async throws {
        let harness = try await Harness()
        let login = Self.request("alice", code: harness.alice.code())
        let first = try await harness.ask(login)
        #expect(first.output == Self.response(1) && first.errors.isEmpty, "\(first.words)")
        #expect(try await harness.ask(login).output == Self.response(2))
        // Another machine's alice is somebody else.
        let next = Self.request("alice", code: harness.alice.code(2))
        #expect(
            try await harness.ask(next, ["--realm": "other.example"]).output == Self.response(2))
        #expect(try await harness.server.stop() == 0)
    }

    @Test("reasons are told if the request asks and the API key has the scope")
    func reasons() async throws {
        let harness = try await Harness()
        let code = harness.alice.code()
        _ = try await harness.ask(Self.request("alice", code: code))
        for (user, code, reason) in [
            ("alice", code, 1), ("alice", "12x", 4), ("bob", "123456", 0),
        ] as [(String, String, UInt8)] {
            let asked = try await harness.ask(Self.request(user, code: code, reasons: true))
            #expect(asked.output == Self.response(2, reason: reason), "\(user) \(code)")
            let notAsked = try await harness.ask(Self.request(user, code: code))
            #expect(notAsked.output == Self.response(2), "\(user) \(code)")
        }
        try harness.write(try await harness.server.state.makeKey("verify"), to: "key")
        let limited = try await harness.ask(Self.request("alice", code: code, reasons: true))
        #expect(limited.output == Self.response(2))
        #expect(try await harness.server.stop() == 0)
    }

    @Test("the status tells who never had a second factor")
    func status() async throws {
        let harness = try await Harness()
        #expect(try await harness.ask(Self.request("alice")).output == Self.response(5))
        #expect(try await harness.ask(Self.request("bob")).output == Self.response(4))
        try harness.write(try await harness.server.state.makeKey("verify"), to: "key")
        let refused = try await harness.ask(Self.request("bob"))
        #expect(refused.output == Self.response(3) && refused.words.contains("missing-scope"))
        #expect(try await harness.server.stop() == 0)
    }

    @Test("whatever is wrong, nothing is decided, and one line says why")
    func failures() async throws {
        let harness = try await Harness()
        let login = Self.request("alice", code: harness.alice.code())
        try harness.write("wwk_unknown\n", to: "unknown")
        try harness.write("wwk_known\n", to: "open", mode: 0o640)
        try makeTestIdentity("b", in: harness.folder)
        let unused = try FreePort.find()
        for (options, words) in [
            (["--ca": harness.folder.file("b.pem")], "is signed by an unknown authority"),
            (["--ca": harness.folder.file("missing")], "cannot be read"),
            (["--key": harness.folder.file("unknown")], "unauthenticated"),
            (["--key": harness.folder.file("open")], "nobody else can read"),
            (["--key": harness.folder.file("missing")], "not a file of root"),
            (["--server": "http://mill.example"], "an https:// URL"),
            (["--server": "https://127.0.0.1:\(unused)"], "cannot connect"),
            (["--realm": "Mill"], "realm="), (["--timeout": "soon"], "timeout="),
        ] {
            let outcome = try await harness.ask(login, options)
            #expect(outcome.output == Self.response(3), "\(options)")
            let errors = String(decoding: outcome.errors, as: UTF8.self)
            #expect(errors.contains(words) && errors.count { $0 == "\n" } == 1, "\(errors)")
        }
        for message in [[], Array(login.dropLast()), [UInt8](repeating: 0, count: 512)] {
            let outcome = try await harness.ask(message)
            #expect(outcome.output == Self.response(3) && !outcome.errors.isEmpty)
        }
        // None of these attempts has spent the code.
        #expect(try await harness.ask(login).output == Self.response(1))
        #expect(try await harness.server.stop() == 0)
    }
}
