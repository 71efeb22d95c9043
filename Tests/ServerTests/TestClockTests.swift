import Foundation
import OneTimePassword
import TestSupport
import Testing

/// The server that an application's tests start.
struct TestClockTests {
    private let state: ServerProcess.State
    private var file: String { state.folder.file("clock") }

    init() throws { state = try ServerProcess.State() }

    private func set(_ time: String) throws {
        try state.folder.write(Array(time.utf8), to: "clock")
    }

    @Test("with --test-clock, a file sets the time, and the keys and the store are in memory")
    func clock() async throws {
        let start: Int64 = 2_000_000_000
        try set("\(start)\n")
        let output = state.folder.file("key")
        let server = try await ServerProcess(
            state, arguments: ["--test-clock", file], under: "exec >'\(output)';")
        #expect(try server.logged().contains(#""event":"test-clock""#))
        let key = String(decoding: try state.folder.bytes(of: "key"), as: UTF8.self)
        #expect(key.hasPrefix("wwk_") && key.hasSuffix("\n"))
        let asker = try Asker(server.port, key: String(key.dropLast()))
        let made = try await asker.ask(
            "POST", "/v1/subjects/alice/credentials",
            #"{"type":"totp","issuer":"Shop","account":"alice"}"#)
        let facts = try #require(made?.texts)
        #expect(facts["expires_at"]?.hasPrefix("2033-05-18T03:43:20") == true)
        let credential = try KeyURI(parsing: Array(#require(facts["uri"]).utf8).span).credential
        func code(at time: Int64) throws -> String { try credential.code(atUnixTime: time).text }
        let confirmed = try await asker.ask(
            "POST", "/v1/credentials/\(#require(facts["credential"]))/confirm",
            #"{"code":"\#(code(at: start))"}"#)
        #expect(confirmed?.texts["result"] == "accepted")
        // Tomorrow's code is accepted once the clock shows tomorrow.
        let tomorrow = start + 86_400
        let later = try code(at: tomorrow)
        #expect(try await asker.verify("alice", later)?.texts["result"] == "denied")
        for time in ["", "\(tomorrow)", "soon\n", "-1\n"] {
            try set(time)
            #expect(
                try await asker.verify("alice", later)?.texts["result"] == "denied", "\(time)")
        }
        try set("\(tomorrow)\n")
        #expect(try await asker.verify("alice", later)?.texts["result"] == "accepted")
        #expect(try await asker.verify("alice", later)?.texts["result"] == "denied")
        #expect(try await server.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: state.folder.file("watchword")))
    }

    @Test("--test-clock is refused with a database or a key file, and without a time in its file")
    func refused() async throws {
        try set("2000000000\n")
        for (option, value) in [
            ("store", "sqlite:\(state.database)"), ("store", "postgresql://nobody@127.0.0.1:1/x"),
            ("keys", state.keyFile),
        ] {
            let outcome = try await state.run(
                "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--test-clock",
                file, "--\(option)", value)
            #expect(outcome.status == 2)
            #expect(
                String(decoding: outcome.errors, as: UTF8.self).contains("--\(option)"),
                "\(option) \(value)")
        }
        let named = try await state.run(
            ["serve", "--test-clock", file],
            environment: ["WATCHWORD_STORE": "sqlite:\(state.database)"])
        #expect(named.status == 2)
        try set("now\n")
        #expect(try await state.run("serve", "--test-clock", file).status == 2)
        #expect(try await state.run("init", "--test-clock", file).status == 2)
        #expect(!FileManager.default.fileExists(atPath: state.folder.file("watchword")))
    }
}
