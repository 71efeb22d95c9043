import Foundation
import TestSupport
import Testing

/// `watchword key enrol`, killed at its system calls and repeated.
@Suite(
    .serialized,
    .enabled(if: ForeignProgram.canTrace, "strace is missing or cannot trace here"))
struct KilledEnrolmentTests {
    /// A traced `key enrol` and its system calls.
    private struct Traced {
        let harness: LoginHarness
        let arguments: [String]
        /// The system calls of an undisturbed run, in order.
        let calls: [String]
        private let strace: ForeignProgram

        /// - Parameter old: the credential that the traced run replaces on the server.
        init(
            _ harness: LoginHarness, _ more: [String] = [], replacing old: String? = nil
        ) async throws {
            self.harness = harness
            arguments = harness.keyEnrolment + more
            strace = try #require(ForeignProgram("strace"))
            try await Self.ticket(for: "first", replacing: old, harness)
            let log = harness.folder.file("calls")
            let outcome = try await Self.run(
                strace, ["-o", log, "-e", "trace=all"], arguments, harness)
            try #require(outcome.status == 0, "\(outcome.words)")
            calls = String(decoding: try harness.folder.bytes(of: "calls"), as: UTF8.self)
                .split(separator: "\n").map(String.init)
                .filter { !$0.hasPrefix("+++") && !$0.hasPrefix("---") }
        }

        private static func run(
            _ strace: ForeignProgram, _ options: [String], _ arguments: [String],
            _ harness: LoginHarness
        ) async throws -> ForeignProgram.Outcome {
            let words = options + [BuiltProgram.path("watchword")] + harness.words(arguments)
            let environment = harness.environment
            return try await onOwnThread { try strace.run(words, environment: environment) }
        }

        private static func ticket(
            for subject: String, replacing old: String?, _ harness: LoginHarness
        ) async throws {
            let more = old.map { #","replaces":"\#($0)""# } ?? ""
            try await harness.ticket(for: subject, #"{"type":"key"\#(more)}"#)
        }

        /// The name of a system call.
        func name(_ index: Int) -> String { String(calls[index].prefix { $0 != "(" }) }

        /// Enrols a key with a new ticket of `subject`, and kills the program before the call.
        ///
        /// - Parameter old: the credential that the server revokes.
        /// - Returns: whether it was killed; `false` is possible, because two runs may differ in a
        ///   few calls.
        func kill(
            before index: Int, for subject: String, replacing old: String? = nil
        ) async throws -> Bool {
            try await Self.ticket(for: subject, replacing: old, harness)
            let name = name(index)
            let count = calls[...index].filter { $0.hasPrefix(name + "(") }.count
            let outcome = try await Self.run(
                strace,
                [
                    "-o", "/dev/null", "-e", "trace=\(name)", "-e",
                    "inject=\(name):signal=KILL:when=\(count)",
                ], arguments, harness)
            return outcome.status != 0
        }
    }

    /// Expects that the key of `subject` signs in, and that it is the only active one.
    private func expectOneKey(
        of subject: String, _ harness: LoginHarness, _ more: [String], custody: String,
        _ call: String
    ) async throws {
        let present = try await harness.run(["key", "present", "mill"] + more)
        #expect(present.status == 0, "\(call): \(present.words)")
        let line = present.text.trimmingCharacters(in: .newlines)
        let facts = try await Asker(harness.application.port, key: harness.key).ask(
            "POST", "/v1/logins/redeem", #"{"login":"\#(line)"}"#)?.texts
        #expect(facts?["subject"] == subject && facts?["custody"] == custody, "\(call)")
        let active = try await active(of: subject, harness)
        #expect(active == [facts?["credential"]], "\(call)")
    }

    /// The active credentials of `subject`.
    private func active(of subject: String, _ harness: LoginHarness) async throws -> [String] {
        let answer = try await Asker(harness.application.port, key: harness.key).ask(
            "GET", "/v1/subjects/\(subject)/credentials")
        let body = Data(try #require(answer).body)
        let object = try JSONSerialization.jsonObject(with: body) as? [String: Any]
        let list = try #require(object?["credentials"] as? [[String: Any]])
        return list.filter { $0["state"] as? String == "active" }
            .compactMap { $0["credential"] as? String }
    }

    @Test(
        "K-80 an enrolment that is killed at any system call is repeated with the same ticket",
        arguments: [false, true])
    func killed(replaces: Bool) async throws {
        let harness = try await LoginHarness()
        let server = try await harness.keyServer()
        var old: String?
        if replaces {
            old = try await harness.ticket(for: "first", #"{"type":"key"}"#)["credential"]
            try #require(try await harness.run(harness.keyEnrolment).status == 0)
        }
        let traced = try await Traced(harness, replacing: old)
        // The login lock is acquired after the vault was unlocked.
        let start = try #require(traced.calls.firstIndex { $0.contains("login.lock") })
        let changing = [
            "write", "fsync", "renameat2", "renameat", "linkat", "unlinkat", "ftruncate", "clone3",
            "clone", "vfork", "pipe2", "exit_group",
        ]
        var killed = 0
        for index in start..<traced.calls.count where changing.contains(traced.name(index)) {
            let (call, subject) = (traced.calls[index], replaces ? "first" : "user-\(index)")
            old = replaces ? try await active(of: subject, harness).first : nil
            killed += try await traced.kill(before: index, for: subject, replacing: old) ? 1 : 0
            if replaces {
                // The server has either the old or the new key. A sign-in with the revoked key
                // wipes only that key, and the other key waits.
                #expect(try await active(of: subject, harness).count == 1, "\(call)")
                let present = try await harness.run("key", "present", "mill")
                let waits = present.words.contains("run watchword key enrol again, with the same")
                #expect(present.status == (waits ? 3 : 0), "\(call): \(present.words)")
            }
            let repeated = try await harness.run(traced.arguments)
            #expect(repeated.status == 0, "\(call): \(repeated.words)")
            try await expectOneKey(of: subject, harness, [], custody: "vault", call)
            #expect(try await active(of: subject, harness) != [old], "\(call)")
            // The old key has been removed.
            let entries = try await harness.run("list").text
            #expect(entries.split(separator: "\n").count == 1, "\(call): \(entries)")
        }
        #expect(killed > 20)
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    /// The number of system calls that are tried; `WATCHWORD_KILLED_CALLS=100000` tries them all.
    private static let killedCalls =
        ProcessInfo.processInfo.environment["WATCHWORD_KILLED_CALLS"].flatMap { Int($0) } ?? 24

    @Test(
        "K-80 K-78 an attested enrolment that is killed at any system call is repeated with the same ticket",
        .enabled(if: TPMTools.areInstalled, "needs swtpm and tpm2-tools"))
    func killedAttestation() async throws {
        let harness = try await LoginHarness()
        let (tpm, maker) = (try EmulatedTPM(), try TPMMaker())
        try tpm.store(maker.certificate(for: tpm), at: TPMMaker.p256Index)
        let server = try await harness.keyServer([
            "--tpm-roots", maker.writeRoot(to: harness.folder),
        ])
        let traced = try await Traced(harness, ["--attest", "--tpm", tpm.address])
        // Begin with the first change to the vault; earlier kills leave nothing behind.
        let lock = try #require(traced.calls.firstIndex { $0.contains("login.lock") })
        let start = try #require(
            traced.calls[lock...].firstIndex {
                $0.hasPrefix("openat(") && $0.contains("\"new\", ") && $0.contains("O_CREAT")
            })
        let step = max((traced.calls.count - start) / Self.killedCalls, 1)
        var killed = 0
        for index in stride(from: start, to: traced.calls.count, by: step) {
            let (call, subject) = (traced.calls[index], "user-\(index)")
            killed += try await traced.kill(before: index, for: subject) ? 1 : 0
            try tpm.flush()
            let repeated = try await harness.run(traced.arguments)
            #expect(repeated.status == 0, "\(call): \(repeated.words)")
            let status = try await harness.run("--json", "key", "status", "mill").text
            #expect(status.contains(#""custody":"tpm-attested""#), "\(call): \(status)")
            try await expectOneKey(
                of: subject, harness, ["--tpm", tpm.address], custody: "tpm-attested", call)
        }
        #expect(killed > min(Self.killedCalls, (traced.calls.count - start) / step) / 2)
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }
}
