import Foundation
import TestSupport
import Testing

/// The commands of a help desk, and the names in their events.
struct HelpDeskTests {
    /// A server with a subject who is locked out after wrong codes.
    private struct LockedOut {
        let state: ServerProcess.State
        let server: ServerProcess
        let asker: Asker
        let alice: EnrolledSubject

        init() async throws {
            state = try ServerProcess.State()
            server = try await ServerProcess(state)
            asker = try Asker(server.port, key: try await state.makeKey())
            alice = try await EnrolledSubject("alice", asker)
            for code in alice.wrongCodes(6) { _ = try await asker.verify("alice", code) }
            #expect(try await asker.verify("alice", alice.code())?.texts["reason"] == "throttled")
        }

        /// The options for commands that ask the server, with a key of these scopes.
        func desk(_ scopes: String, subjects: String? = nil) async throws -> [String] {
            let name = "desk-\(UUID().uuidString)"
            let limit = subjects.map { ["--subjects", $0] } ?? []
            let arguments = ["client", "add", name, "--scope", scopes] + limit
            let key = try await state.run(arguments)
            #expect(key.status == 0)
            try state.folder.write(key.output, to: name)
            return [
                "--server", "http://127.0.0.1:\(server.port)", "--api-key-file",
                state.folder.file(name),
            ]
        }

        /// The last event, as one line of JSON.
        func lastEvent() async throws -> String {
            let events = try await state.run(["events", "--subject", "alice", "--json"])
            return events.text.split(separator: "\n").last.map(String.init) ?? ""
        }
    }

    @Test("a user who is locked out can sign in at once after unlock", arguments: [false, true])
    func unlocked(isRemote: Bool) async throws {
        let world = try await LockedOut()
        let desk = isRemote ? try await world.desk("manage") : []
        let outcome = try await world.state.run(["subject", "unlock", "alice"] + desk)
        #expect(outcome.text == "\(world.alice.credential)  totp  unlocked\n")
        let event = try await world.lastEvent()
        #expect(event.contains(#""kind":"unlocked""#))
        #expect(event.contains(isRemote ? #""client":"cl_"# : #""user_agent":"watchword-server ("#))
        let accepted = try await world.asker.verify("alice", world.alice.code())
        #expect(accepted?.texts["result"] == "accepted")
        #expect(try await world.server.stop() == 0)
    }

    @Test("the lists show how an enrolled secret is bound to its device")
    func custody() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let asker = try Asker(server.port, key: try await state.makeKey())
        for subject in ["bound", "plain"] {
            let grant = try await asker.ask(
                "POST", "/v1/subjects/\(subject)/credentials", #"{"type":"secret"}"#)
            let ticket = try #require(grant?.texts["ticket"])
            let claim = subject == "bound" ? #","custody":"agent""# : ""
            let redeemed = try await asker.ask(
                "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"\#(claim)}"#)
            #expect(redeemed?.texts["secret"] != nil)
        }
        let list = try await state.run(["subject", "list"])
        #expect(list.text == "bound  secret (agent)\nplain  secret\n")
        #expect(try await server.stop() == 0)
    }

    @Test(
        "a command on the database records the user who called sudo, but only if root runs it")
    func administrator() async throws {
        let world = try await LockedOut()
        let outcome = try await world.state.run(
            ["subject", "revoke", "alice"], environment: ["SUDO_USER": "mallory"])
        #expect(outcome.status == 0)
        let isNamed = try await world.lastEvent().contains("watchword-server (mallory)")
        #expect(isNamed == (getuid() == 0))
        #expect(try await world.server.stop() == 0)
    }

    @Test("an API key without the scope, or limited to other subjects, is refused with the reason")
    func refused() async throws {
        let world = try await LockedOut()
        for (scopes, subjects, message) in [
            ("verify", nil, "the API key lacks a scope"),
            ("manage", "shop/", "the API key is limited to other subjects"),
        ] as [(String, String?, String)] {
            let desk = try await world.desk(scopes, subjects: subjects)
            let outcome = try await world.state.run(["subject", "revoke", "alice"] + desk)
            #expect(outcome.status == 5)
            #expect(String(decoding: outcome.errors, as: UTF8.self).contains(message))
        }
        try world.state.folder.write(Array("wwk_AAAA\n".utf8), to: "unknown")
        let unknown = try await world.state.run([
            "events", "--server", "http://127.0.0.1:\(world.server.port)", "--api-key-file",
            world.state.folder.file("unknown"),
        ])
        #expect(unknown.status == 5)
        #expect(try await world.server.stop() == 0)
        // The server has stopped.
        let desk = try await world.desk("manage")
        #expect(try await world.state.run(["subject", "list"] + desk).status == 6)
    }
}
