import Courier
import DeviceLogin
import Foundation
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import VaultService

/// Sign-ins with an enrolled secret that the agent holds.
@Suite(.serialized)
struct AgentLoginTests {
    /// An agent that holds an empty vault, and a server.
    private struct Harness {
        let agent: AgentFixture
        let server: LoginServer

        init(_ faults: [String] = [], entries: [String] = []) throws {
            agent = try AgentFixture(entries)
            server = try LoginServer(faults, certificate: "good")
            for (name, bytes) in try LoginServer.enrolmentFiles() {
                try agent.folder.write(bytes, to: name)
            }
            // Without the agent, a readable file would cause a warning.
            try agent.shell("chmod 600 *.txt")
            try agent.run(AgentFixture.unlock)
        }

        func enrolment(_ more: String = "") -> String { server.enrolment("Mill:ivan \(more)") }

        @discardableResult
        func enrol(_ more: String = "", status: Int32 = 0) throws -> ForeignProgram.Outcome {
            try agent.run(enrolment(more), status: status)
        }

        @discardableResult
        func present(status: Int32 = 0) throws -> ForeignProgram.Outcome {
            let outcome = try agent.run("login present mill", status: status)
            #expect(outcome.text.hasPrefix(status == 0 ? "wwl_" : ""))
            return outcome
        }

        /// The output of the same command without the agent.
        func direct(_ command: String, status: Int32 = 0) throws -> ForeignProgram.Outcome {
            try agent.run("\(command) --passphrase-file pass.txt", status: status)
        }
    }

    @Test("a device enrols, signs in, shows its status and is wiped, all through the agent")
    func wholeLife() throws {
        let harness = try Harness()
        let enrolled = try harness.enrol()
        #expect(
            AgentFixture.errors(enrolled).hasPrefix(
                "Enrolled Mill:ivan at \(harness.server.address). It now opens only on this device, "
            ))
        var tickets: Set<String> = []
        // The command with the agent continues where the one without it stopped, and the reverse.
        for _ in 0..<2 {
            tickets.insert(try harness.present().text)
            tickets.insert(try harness.direct("login present mill").text)
        }
        #expect(tickets.count == 4)
        let told = try harness.agent.run("login present mill --json").text
        for word in ["\"login\":\"wwl_", "\"expires_at\":\"2026-", "\"verification\":\"vf_"] {
            #expect(told.contains(word))
        }
        let status = try harness.agent.run("login status mill --json")
        #expect(status.text.contains("\"generation\":4") && status.text.contains("\"ready\""))
        #expect(!status.text.contains("wws_"))
        #expect(try harness.direct("login status mill --json").text == status.text)
        #expect(
            try harness.agent.run("login status mill").text
                == harness.direct("login status mill").text)
        try harness.agent.run("login wipe mill --yes")
        #expect(try harness.agent.run("list").text == "")
        let folder = ".local/share/watchword/.watchword/by-name/vault"
        try harness.agent.shell("test ! -e \(folder)/previous")
        // While the agent does not hold the vault, each command needs the passphrase.
        try harness.agent.run("lock")
        try harness.enrol(status: 4)
    }

    @Test(
        "a refusal or an invalid response has the same effect as without the agent",
        arguments: [
            ("deny", 5, "rejected the secret"),
            ("status=403", 5, "refused the request (status 403, urn:watchword:problem:test, name)"),
            ("status=429", 6, "try again in 7 s"), ("status=503", 6, "failed (status 503"),
            ("redirect=https://localhost/", 5, "sent a redirect"),
            ("garbage=nothing", 6, "is invalid; check that the address"),
            ("wipe=bad-mood", 5, "without a valid reason"),
        ] as [(String, Int32, String)])
    func refusals(fault: String, status: Int32, words: String) throws {
        let harness = try Harness(["none", fault])
        try harness.enrol()
        let refused = try harness.present(status: status)
        #expect(AgentFixture.errors(refused).contains(words), "\(fault)")
        try harness.present()
        try harness.present()
    }

    @Test("a wipe order is obeyed, and a new enrolment replaces the tombstone")
    func wiped() throws {
        let harness = try Harness(["none", "wipe=account-closed"])
        try harness.enrol()
        let refused = try harness.present(status: 5)
        #expect(AgentFixture.errors(refused).contains("the account is closed"))
        try harness.present(status: 5)
        let status = try harness.agent.run("login status mill --json").text
        #expect(status.contains("\"wiped\"") && status.contains("\"account-closed\""))
        try harness.agent.folder.write(Array("wwt_second\n".utf8), to: "ticket.txt")
        try harness.enrol()
        try harness.present()
        #expect(try harness.agent.run("list").text.split(separator: "\n").count == 1)
    }

    @Test("after a lost or truncated response, running the command again succeeds")
    func lost() throws {
        for fault in ["lose", "drop", "cut=60"] {
            // The fault occurs twice, because the request is repeated once.
            let harness = try Harness(["none", "none", fault, fault])
            try harness.enrol()
            try harness.present()
            let lost = try harness.present(status: 6)
            #expect(AgentFixture.errors(lost).contains("try again"), "\(fault)")
            let status = try harness.agent.run("login status mill").text
            #expect(status.contains("unanswered"), "\(fault)")
            try harness.present()
            try harness.present()
        }
    }

    @Test("a restored older vault sends no secret, whichever process has opened it")
    func stale() throws {
        let (harness, file) = (try Harness(), AgentFixture.vault)
        try harness.enrol()
        try harness.agent.shell("cp -p \(file) backup")
        try harness.present()
        let sent = try harness.server.requests().count
        try harness.agent.shell("cp -p \(file) newer; cp -p backup \(file)")
        let locked = try harness.present(status: 4)
        #expect(AgentFixture.errors(locked).contains("without its last changes, replaced it"))
        try harness.agent.run(AgentFixture.unlock)
        let refused = try harness.present(status: 3)
        #expect(AgentFixture.errors(refused).contains("nothing was sent"))
        #expect(try harness.agent.run("login status mill").text.contains("stale"))
        #expect(try harness.server.requests().count == sent)
        try harness.agent.shell("cp -p newer \(file)")
        try harness.agent.run(AgentFixture.unlock)
        try harness.present()
    }

    @Test("clients that sign in at the same time do not trigger reuse detection")
    func atOnce() throws {
        let harness = try Harness()
        try harness.enrol()
        let held = "watchword login present mill"
        let own = held + " --passphrase-file pass.txt"
        let tickets = try harness.agent.together([held, own, held, own, held]).split(
            separator: "\n")
        #expect(Set(tickets).count == 5 && tickets.allSatisfy { $0.hasPrefix("wwl_") })
        #expect(try harness.agent.run("login status mill").text.contains("ready"))
    }

    @Test("a client that leaves during a sign-in neither disturbs others nor loses the secret")
    func disconnected() throws {
        let harness = try Harness()
        try harness.enrol()
        let place = try harness.agent.place()
        let id = try #require(
            try harness.agent.listing(harness.agent.client(), of: place).entries.first
        ).summary.id
        for _ in 0..<5 {
            let path = harness.agent.folder.file("run/watchword/agent.sock")
            let socket = try LocalSocket.connect(to: path)
            let frame = try FrameWriter()
            frame.append(AgentProtocol.version)
            frame.append(
                AgentRequest.login(place, try SecretBytes(encoding: LoginRequest.signIn(id)), .none)
            )
            // The connection ends abruptly, at any moment of the sign-in.
            try frame.write(to: socket)
        }
        try harness.present()
        _ = try harness.direct("login present mill")
        // The sign-ins of clients that have disconnected end by themselves.
        try harness.agent.shell("until watchword login status mill | grep -q ready; do :; done")
        try harness.present()
    }

    @Test("killing the agent at any moment of a sign-in does not prevent the next one")
    func killed() throws {
        let harness = try Harness()
        try harness.enrol()
        for moment in 0..<10 {
            let holder = try harness.agent.keyHolder()
            let wait = "i=0; while [ $i -lt \(10_000 * moment) ]; do i=$((i+1)); done"
            try harness.agent.together([
                "watchword login present mill >/dev/null 2>&1", "\(wait); kill -9 \(holder)",
            ])
            try harness.agent.shell(
                "while [ -e run/watchword/agent.sock ]; do watchword agent stop || true; done")
            _ = try harness.direct("login present mill")
            try harness.agent.run(AgentFixture.unlock)
            try harness.present()
        }
    }

    @Test("killing the agent while the server has the request does not prevent the next sign-in")
    func killedInFlight() throws {
        let harness = try Harness(["none", "slow"])
        try harness.enrol()
        let holder = try harness.agent.keyHolder()
        let terminal = try harness.agent.terminal("login present mill")
        while try harness.server.requests().count < 2 {}
        try harness.agent.shell("kill -9 \(holder)")
        #expect(try terminal.end() != 0)
        #expect(!terminal.screen.contains("wwl_"))
        try harness.agent.shell("while [ -e run/watchword/agent.sock ]; do :; done")
        #expect(try harness.direct("login status mill").text.contains("unanswered"))
        try harness.agent.run(AgentFixture.unlock)
        try harness.present()
        try harness.present()
    }

    @Test("the enrolled secret is in no response, not even to a client that asks for it")
    func secrecy() throws {
        let harness = try Harness()
        try harness.enrol()
        try harness.present()
        let (client, place) = (try harness.agent.client(), try harness.agent.place())
        let id = try #require(try harness.agent.listing(client, of: place).entries.first)
            .summary.id
        let opener = AgentFixture.opener
        _ = try client.send(.prove(place, opener, ceiling: 20))
        let shown = try client.send(.contents(place, [id], .none, isUse: false))
        #expect("\(shown)" == "failed(SecretVault.VaultError.otherKind)")
        for request in [LoginRequest.signIn(id), .status(id)] {
            let response = try client.send(.login(place, SecretBytes(encoding: request), .none))
            guard case .login(let bytes, _) = response else {
                Issue.record("no answer")
                return
            }
            let text = bytes.withBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            }
            #expect(!text.contains("wws_"))
        }
        // A request that is malformed.
        let nonsense = SecretBytes(text: "nonsense")
        #expect(throws: AgentFailure.malformed) {
            try client.send(.login(place, nonsense, .none))
        }
    }

    @Test("a per-use secret requires its check for each use and for a new enrolment")
    func perUse() throws {
        let harness = try Harness()
        try harness.enrol("--presence per-use:passphrase")
        try harness.present(status: 4)
        try harness.agent.run("login status mill", status: 4)
        let screen = try harness.agent.answering(
            "To sign in with Mill:ivan, enter the passphrase again: ", AgentFixture.passphrase,
            "login present mill")
        #expect(screen.contains("wwl_"))
        try harness.present(status: 4)
        try harness.agent.folder.write(Array("wwt_second\n".utf8), to: "ticket.txt")
        let sent = try harness.server.requests().count
        try harness.enrol(status: 4)
        try harness.enrol("--presence per-unlock", status: 4)
        // A client that skips the check.
        let (client, place) = (try harness.agent.client(), try harness.agent.place())
        let order = Enrolment(
            SecretBytes(text: "wwt_second"),
            at: TrustedServer(try #require(ServerAddress(harness.server.address))),
            deviceName: "",
            name: EntryName(typed: "Mill:ivan"),
            access: AccessControlChange(presence: .perUnlock, onFailure: nil))
        let request = try SecretBytes(encoding: LoginRequest.enrol(order))
        guard case .login(let bytes, _) = try client.send(.login(place, request, .none)) else {
            Issue.record("no answer")
            return
        }
        let response = try bytes.withBytes { try LoginResponse(parsing: $0) }
        #expect("\(response)".contains("presenceNeeded"))
        #expect(try harness.server.requests().count == sent)
        _ = try harness.agent.answering(
            "enter the passphrase again: ", AgentFixture.passphrase, harness.enrolment())
        #expect(try harness.server.requests().count == sent + 1)
    }

    @Test("requests about an entry of a different kind are refused, and no ticket is sent")
    func takenName() throws {
        let harness = try Harness(entries: ["Mill:ivan --secret-file key.txt"])
        let refused = try harness.enrol(status: 1)
        let direct = try harness.direct(harness.enrolment(), status: 1)
        #expect(refused.errors == direct.errors)
        for command in ["login present mill", "login status mill", "login wipe mill --yes"] {
            let held = try harness.agent.run(command, status: 1)
            #expect(try harness.direct(command, status: 1).errors == held.errors)
        }
        #expect(try harness.server.requests().isEmpty)
        // A client that ignores the entry's kind.
        let (client, place) = (try harness.agent.client(), try harness.agent.place())
        let id = try #require(try harness.agent.listing(client, of: place).entries.first)
            .summary.id
        let wipe = try SecretBytes(encoding: LoginRequest.wipe(id))
        let response = try client.send(.login(place, wipe, .none))
        #expect("\(response)" == "failed(SecretVault.VaultError.otherKind)")
        #expect(try harness.agent.run("list --names").text == "Mill:ivan\n")
    }
}
