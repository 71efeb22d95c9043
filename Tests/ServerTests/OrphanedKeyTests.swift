import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// Device keys that the server has registered, although the device never got the response.
@Suite(.serialized)
struct OrphanedKeyTests {
    /// A device that reaches its server through a proxy.
    private final class Scene {
        let harness: LoginHarness
        let proxy: FaultInjectingProxy
        private let server: ServerProcess

        init(_ store: TestedStore = .sqlite, _ more: [String] = []) async throws {
            let url: String? =
                store == .postgreSQL
                ? try await onOwnThread { try PostgreSQLServer.shared().makeDatabase() } : nil
            harness = try await LoginHarness(store: url)
            let port = harness.application.port
            proxy = try FaultInjectingProxy(to: port)
            server = try await ServerProcess(
                harness.state,
                arguments: ["--audience", "http://localhost:\(proxy.port)"] + more)
            proxy.lead(to: server.port)
        }

        func enrol(_ more: [String] = ["--custody", "vault"]) async throws
            -> ForeignProgram.Outcome
        {
            try await harness.run(
                [
                    "--json", "key", "enrol", "Mill:alice", "--server",
                    "http://localhost:\(proxy.port)", "--ticket-file",
                    harness.folder.file("ticket.txt"), "--presence", "per-use:passphrase",
                ] + more)
        }

        /// A ticket for a key, in the file that ``enrol(_:)`` uses.
        @discardableResult
        func ticket(replacing credential: String? = nil) async throws -> String {
            let replaces = credential.map { #","replaces":"\#($0)""# } ?? ""
            let facts = try await harness.ticket(#"{"type":"key"\#(replaces)}"#)
            return try #require(facts["credential"])
        }

        /// Enrols with a new ticket, and loses all messages in one direction.
        ///
        /// - Parameter first: the number of requests that are answered before the loss.
        func lose(
            replacing credential: String? = nil, requests: Bool = false, after first: Int = 0,
            _ more: [String] = ["--custody", "vault"]
        ) async throws -> String {
            let credential = try await ticket(replacing: credential)
            var lost = FaultInjectingProxy.Fault()
            if requests { lost.requestLimit = 0 } else { lost.replyLimit = 0 }
            // A lost request is repeated once.
            proxy.expect(
                Array(repeating: FaultInjectingProxy.Fault(), count: first) + [lost, lost])
            let outcome = try await enrol(more)
            proxy.expect([])
            #expect(outcome.status == 6, "\(outcome.words)")
            return credential
        }

        /// The IDs of the subject's active credentials.
        func active() async throws -> [String] {
            let list = try await Asker(harness.application.port, key: harness.key).ask(
                "GET", "/v1/subjects/alice/credentials")
            let object = try JSONSerialization.jsonObject(with: Data(list?.body ?? []))
            let all = (object as? [String: Any])?["credentials"] as? [[String: Any]] ?? []
            return all.filter { $0["state"] as? String == "active" }
                .compactMap { $0["credential"] as? String }
        }

        func revoke(_ credential: String) async throws {
            let answer = try await Asker(harness.application.port, key: harness.key).ask(
                "DELETE", "/v1/credentials/\(credential)")
            #expect(answer?.status == 204)
        }

        /// Expects that this credential's key signs in, and that no other is active.
        func expectOnly(
            _ credential: String, _ more: [String] = [],
            _ location: SourceLocation = #_sourceLocation
        ) async throws {
            #expect(try await active() == [credential], sourceLocation: location)
            let present = try await harness.run(["key", "present", "mill"] + more)
            #expect(present.status == 0, "\(present.words)", sourceLocation: location)
            let line = present.text.trimmingCharacters(in: .newlines)
            let facts = try await Asker(harness.application.port, key: harness.key).ask(
                "POST", "/v1/logins/redeem", #"{"login":"\#(line)"}"#)?.texts
            #expect(facts?["credential"] == credential, sourceLocation: location)
            let entries = try await harness.run("list").text
            #expect(
                entries.split(separator: "\n").count == 1, "\(entries)", sourceLocation: location)
        }

        /// Deletes the server's recorded responses, as the server does after a day.
        func forgetResponses() throws {
            let program = [
                "import sqlite3, sys",
                "base = sqlite3.connect(sys.argv[1], isolation_level=None)",
                "print(base.execute('DELETE FROM answers').rowcount)",
            ].joined(separator: "\n")
            let outcome = try ForeignProgram(path: "/usr/bin/python3")
                .run(["-c", program, harness.state.database])
            try #require(outcome.status == 0 && outcome.text != "0\n", "\(outcome.text)")
        }

        func stop() async throws {
            for server in [server, harness.application] { #expect(try await server.stop() == 0) }
        }
    }

    @Test("K-80 a run with the same ticket keeps the key after the server forgot its response")
    func later() async throws {
        let scene = try await Scene()
        let old = try await scene.ticket()
        #expect(try await scene.enrol().status == 0)
        for replaced in [old, nil] {
            if replaced == nil {
                #expect(try await scene.harness.run("key", "wipe", "mill", "--yes").status == 0)
                for credential in try await scene.active() { try await scene.revoke(credential) }
            }
            let credential = try await scene.lose(replacing: replaced)
            try scene.forgetResponses()
            let repeated = try await scene.enrol()
            #expect(repeated.status == 0, "\(repeated.words)")
            #expect(repeated.text.contains(#""credential":"\#(credential)""#))
            #expect(repeated.text.contains(#""result":"enrolled""#))
            try await scene.expectOnly(credential)
        }
        // A revoked key is dropped, and the next ticket enrols a new key.
        let revoked = try await scene.lose(replacing: try await scene.active().first)
        try scene.forgetResponses()
        try await scene.revoke(revoked)
        #expect(try await scene.enrol().status == 5)
        let next = try await scene.ticket()
        #expect(try await scene.enrol().status == 0)
        try await scene.expectOnly(next)
        try await scene.stop()
    }

    @Test(
        "K-80 a run with a different ticket adopts a key that the server has registered",
        arguments: TestedStore.installed)
    func otherTicket(_ store: TestedStore) async throws {
        let scene = try await Scene(store)
        var current: String?
        // First without an earlier key, then with one, which can no longer sign in.
        for _ in 0..<2 {
            let lost = try await scene.lose(replacing: current)
            try await scene.ticket()
            let adopted = try await scene.enrol()
            #expect(adopted.status == 0, "\(adopted.words)")
            #expect(adopted.text.contains(#""credential":"\#(lost)""#), "\(adopted.text)")
            #expect(adopted.text.contains(#""result":"resumed""#), "\(adopted.text)")
            try await scene.expectOnly(lost)
            current = lost
        }
        // The same command, run again, replaces the key, as it replaces every key.
        let next = try await scene.ticket(replacing: current)
        let replaced = try await scene.enrol()
        #expect(replaced.text.contains(#""result":"enrolled""#), "\(replaced.text)")
        try await scene.expectOnly(next)
        try await scene.stop()
    }

    @Test("K-80 a run uses a different ticket if the earlier key is no longer registered")
    func revoked() async throws {
        let scene = try await Scene()
        let lost = try await scene.lose()
        try await scene.revoke(lost)
        let next = try await scene.ticket()
        #expect(try await scene.enrol().status == 0)
        try await scene.expectOnly(next)
        // The same applies if the ticket was withdrawn before the registration arrived.
        let unsent = try await scene.lose(replacing: next, requests: true)
        try await scene.revoke(unsent)
        let last = try await scene.ticket(replacing: next)
        #expect(try await scene.enrol().status == 0)
        try await scene.expectOnly(last)
        // While the server cannot be asked, the earlier key is kept.
        let kept = try await scene.lose(replacing: last)
        _ = try await scene.lose()
        try await scene.ticket()
        #expect(try await scene.enrol().status == 0)
        try await scene.expectOnly(kept)
        try await scene.stop()
    }

    @Test(
        "K-80 a key in a place other than the specified one is adopted, but the command fails")
    func elsewhere() async throws {
        let scene = try await Scene()
        let lost = try await scene.lose()
        try await scene.ticket()
        let tpm = try await scene.enrol(["--custody", "tpm", "--tpm", "device:/nonexistent"])
        #expect(tpm.status == 3, "\(tpm.words)")
        #expect(tpm.words.contains("key is in use now, and the ticket was not used"))
        try await scene.expectOnly(lost)
        try await scene.stop()
    }

    @Test(
        "K-78 K-80 an attested key whose activation response was lost is adopted as attested",
        .enabled(if: EmulatedTPM.canHaveCertificate, "swtpm or swtpm-tools is not installed"))
    func attested() async throws {
        let tpm = try EmulatedTPM(hasCertificate: true)
        let scene = try await Scene(.sqlite, ["--tpm-roots", tpm.makersCertificate])
        let options = ["--attest", "--tpm", tpm.address]
        let lost = try await scene.lose(after: 1, options)
        try await scene.ticket()
        let adopted = try await scene.enrol(options)
        #expect(adopted.text.contains(#""credential":"\#(lost)""#), "\(adopted.words)")
        #expect(adopted.text.contains(#""custody":"tpm-attested""#), "\(adopted.text)")
        try await scene.expectOnly(lost, ["--tpm", tpm.address])
        // If the TPM's secret did not arrive, the key never becomes active.
        _ = try await scene.lose(replacing: lost, requests: true, after: 1, options)
        let next = try await scene.ticket(replacing: lost)
        let enrolled = try await scene.enrol(options)
        #expect(enrolled.text.contains(#""credential":"\#(next)""#), "\(enrolled.words)")
        try await scene.expectOnly(next, ["--tpm", tpm.address])
        try await scene.stop()
    }
}
