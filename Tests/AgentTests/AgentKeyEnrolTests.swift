import Courier
import DeviceLogin
import Foundation
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import VaultService

/// Registration of device keys through the agent, at a real server.
@Suite(.serialized)
struct AgentKeyEnrolTests {
    /// An agent that holds an empty vault, and a server.
    private struct Harness {
        let agent: AgentFixture
        let server: KeyServer

        init(_ entries: [String] = [], isProxied: Bool = false) throws {
            agent = try AgentFixture(entries)
            server = try KeyServer(isProxied: isProxied)
            try agent.run(AgentFixture.unlock)
        }

        @discardableResult
        func prepareTicket(_ more: String = "", type: String = "key") throws -> String {
            let ticket = try server.ticket(for: "ann", more, type: type)
            try agent.folder.write(Array("\(ticket.text)\n".utf8), to: "ticket.txt")
            try agent.shell("chmod 600 *.txt")
            return ticket.credential
        }

        func command(_ more: String = "--custody vault --presence per-use:passphrase") -> String {
            "key enrol Mill:ann --server \(server.address) --ticket-file ticket.txt \(more)"
        }

        /// Runs a command on a terminal and answers questions with the passphrase.
        @discardableResult
        func answering(
            _ questions: [String], _ command: String, status: Int32 = 0
        ) throws -> String {
            let terminal = try agent.terminal(command)
            for question in questions {
                try terminal.waitFor(question)
                terminal.clear()
                try terminal.type(AgentFixture.passphrase + "\n")
            }
            #expect(try terminal.end() == status, "\(command)\n\(terminal.screen)")
            return terminal.screen
        }

        /// The data that the application receives from a sign-in.
        func signIn() throws -> [String: String] {
            try server.redeem(
                try answering(["enter the passphrase again: "], "key present mill"))
        }
    }

    private static let replaces = "To replace Mill:ann, enter the passphrase again: "

    @Test("registering a key that requires a check at each use takes one check")
    func enrols() throws {
        let harness = try Harness()
        let credential = try harness.prepareTicket(#","presence":"cryptographic""#)
        try harness.agent.run(harness.command(), status: 4)
        #expect(try harness.server.active().isEmpty)
        let question =
            "To enrol Mill:ann at \(harness.server.address), enter the passphrase again: "
        let screen = try harness.answering([question], harness.command())
        #expect(screen.contains("The key is in the vault."))
        #expect(try harness.server.active() == [credential])
        let facts = try harness.signIn()
        #expect(facts["credential"] == credential && facts["presence"] == "cryptographic")
        // With the same ticket again, nothing is signed, so only the replacement needs a check.
        try harness.answering([Self.replaces], harness.command())
        // The check for a replacement also counts for the registration.
        let next = try harness.prepareTicket(#","replaces":"\#(credential)""#)
        try harness.answering([Self.replaces], harness.command())
        #expect(try harness.server.active() == [next])
        #expect(try harness.signIn()["credential"] == next)
        #expect(try harness.agent.run("list --names").text == "Mill:ann\n")
        // Without the agent, the same key is used.
        let own = try harness.agent.run("key present mill --passphrase-file pass.txt").text
        #expect(try harness.server.redeem(own)["credential"] == next)
    }

    @Test("a key without a check at each use is registered without a prompt; the server is told so")
    func unchecked() throws {
        let harness = try Harness()
        try harness.prepareTicket(#","presence":"advisory""#)
        let weak = harness.command("--custody vault --presence per-unlock")
        let refused = try harness.agent.run(weak, status: 5)
        #expect(AgentFixture.errors(refused).contains("a stronger presence check"))
        #expect(try harness.agent.run("list").text == "")
        let credential = try harness.prepareTicket()
        try harness.agent.run(weak)
        #expect(try harness.server.active() == [credential])
    }

    @Test("a wrong passphrase registers nothing, and is counted")
    func wrong() throws {
        let harness = try Harness()
        try harness.prepareTicket()
        let terminal = try harness.agent.terminal(harness.command())
        for _ in 0..<3 {
            try terminal.waitFor("again: ")
            terminal.clear()
            try terminal.type("guess\n")
        }
        #expect(try terminal.end() == 4)
        let left = LockOutPolicy.firstFailureWithWait - 3
        #expect(terminal.screen.contains("locked out after \(left) more failures"))
        #expect(try harness.server.active().isEmpty)
        #expect(try harness.agent.run("list").text == "")
    }

    @Test(
        "an interrupted enrolment is continued with the same ticket, and the old key stays usable")
    func interrupted() throws {
        let harness = try Harness()
        let first = try harness.prepareTicket()
        try harness.answering(["again: "], harness.command())
        try harness.prepareTicket()
        // No server listens at this address.
        let lost =
            "key enrol Mill:ann --server http://localhost:1 --ticket-file ticket.txt "
            + "--custody vault"
        try harness.answering([Self.replaces], lost, status: 6)
        #expect(try harness.signIn()["credential"] == first)
        try harness.answering([Self.replaces], lost, status: 6)
        let next = try harness.prepareTicket(#","replaces":"\#(first)""#)
        try harness.answering([Self.replaces], harness.command("--custody vault"))
        #expect(try harness.server.active() == [next])
        #expect(try harness.signIn()["credential"] == next)
    }

    @Test("K-80 the agent adopts a key whose registration response was lost")
    func adopts() throws {
        let harness = try Harness(isProxied: true)
        let (agent, server) = (harness.agent, harness.server)
        func lose() throws -> String {
            let credential = try harness.prepareTicket()
            var lost = FaultInjectingProxy.Fault()
            lost.replyLimit = 0
            server.proxy?.expect([lost, lost])
            try agent.run(
                harness.command("--custody vault --presence per-unlock"), status: 6)
            server.proxy?.expect([])
            #expect(try server.active() == [credential])
            return credential
        }
        let first = try lose()
        try harness.prepareTicket()
        let again = harness.command("--custody vault --presence per-unlock")
        let adopted = try agent.run(again)
        #expect(AgentFixture.errors(adopted).contains("the ticket was not used"))
        #expect(try server.redeem(try agent.run("key present mill").text)["credential"] == first)
        try server.ask("DELETE", "/v1/credentials/\(first)", "")
        // A key in the vault is not reported as a key in a TPM.
        let second = try lose()
        try harness.prepareTicket()
        let elsewhere = try agent.run(
            harness.command("--custody tpm --tpm device:/nonexistent --presence per-unlock"),
            status: 3)
        #expect(AgentFixture.errors(elsewhere).contains("key is in use now"))
        #expect(try server.active() == [second])
        #expect(try server.redeem(try agent.run("key present mill").text)["credential"] == second)
    }

    @Test(
        "K-80 after the agent is killed, the same command succeeds: one key is active, and signs")
    func killed() throws {
        let harness = try Harness()
        let agent = harness.agent
        var current = try harness.prepareTicket()
        let command = harness.command("--custody vault --presence per-unlock")
        try agent.run(command)
        for moment in 0..<8 {
            current = try harness.prepareTicket(#","replaces":"\#(current)""#)
            let holder = try agent.keyHolder()
            let wait = "i=0; while [ $i -lt \(8_000 * moment) ]; do i=$((i+1)); done"
            try agent.together([
                "watchword \(command) >/dev/null 2>&1", "\(wait); kill -9 \(holder)",
            ])
            try agent.shell(
                "while [ -e run/watchword/agent.sock ]; do watchword agent stop || true; done")
            try agent.run(AgentFixture.unlock)
            try agent.run(command)
            #expect(try harness.server.active() == [current])
            let ticket = try agent.run("key present mill").text
            #expect(try harness.server.redeem(ticket)["credential"] == current)
            #expect(try agent.run("list --names").text == "Mill:ann\n")
        }
    }

    @Test(
        "a key that replaces an enrolled secret requires a check, and replaces it once registered"
    )
    func overSecret() throws {
        let harness = try Harness()
        let agent = harness.agent
        for isHeld in [true, false] {
            let own = isHeld ? "" : " --passphrase-file pass.txt"
            let secret = try harness.prepareTicket(type: "secret")
            try agent.run(
                "login enrol Mill:ann --server \(harness.server.address) --ticket-file ticket.txt")
            #expect(!(try agent.run("list --json").text.contains("per-use")))
            try harness.prepareTicket()
            let lost =
                "key enrol Mill:ann --server http://localhost:1 --ticket-file ticket.txt "
                + "--custody vault --presence-check passphrase"
            if isHeld {
                try harness.answering(["To enrol Mill:ann at http://localhost:1"], lost, status: 6)
            } else {
                try agent.run(lost + own, status: 6)
            }
            // The enrolled secret still signs in, repeatedly.
            for _ in 0..<2 {
                let ticket = try agent.run("login present mill").text
                #expect(try harness.server.redeem(ticket)["credential"] == secret)
            }
            let key = try harness.prepareTicket(#","replaces":"\#(secret)""#)
            let enrol = harness.command("--custody vault --presence-check passphrase")
            if isHeld {
                try harness.answering(["To enrol Mill:ann at \(harness.server.address)"], enrol)
            } else {
                try agent.run(enrol + own)
            }
            #expect(try harness.server.active() == [key])
            let shown = try agent.run("list --json").text
            #expect(shown.contains("per-use") && !shown.contains("wipe:4"))
            try agent.run("key present mill --presence-check passphrase", status: 4)
            try agent.run("key wipe mill --yes")
            try harness.server.ask("DELETE", "/v1/credentials/\(key)", "")
        }
    }

    @Test(
        "a pending key replaces a secret that is revoked in the meantime, and is not wiped")
    func revokedSecret() throws {
        let harness = try Harness()
        let agent = harness.agent
        let secret = try harness.prepareTicket(type: "secret")
        try agent.run(
            "login enrol Mill:ann --server \(harness.server.address) --ticket-file ticket.txt")
        try harness.prepareTicket()
        try agent.run(
            "key enrol Mill:ann --server http://localhost:1 --ticket-file ticket.txt "
                + "--custody vault --presence per-unlock", status: 6)
        try harness.server.ask("DELETE", "/v1/credentials/\(secret)", "")
        let refused = try agent.run("login present mill", status: 3)
        #expect(AgentFixture.errors(refused).contains("the server has not confirmed the key"))
        let status = try agent.run("key status mill --json").text
        #expect(status.contains(#""state":"unregistered""#))
    }

    @Test(
        "an enrolment over an entry with a forged wipe is refused with advice on what to do first")
    func vanished() throws {
        let harness = try Harness()
        try harness.prepareTicket()
        try harness.answering(["again: "], harness.command())
        try harness.agent.forgeTombstone()
        try harness.prepareTicket()
        let screen = try harness.answering([Self.replaces], harness.command(), status: 1)
        #expect(screen.contains("first follow the warnings of watchword list"))
    }

    @Test(
        "if an entry of a different kind has the name, enrolment is refused and no ticket is sent")
    func nameTaken() throws {
        let harness = try Harness(["Mill:ann --secret-file key.txt"])
        try harness.prepareTicket()
        let held = try harness.agent.run(harness.command(), status: 1)
        let own = try harness.agent.run(
            harness.command() + " --passphrase-file pass.txt", status: 1)
        #expect(held.errors == own.errors)
        #expect(try !harness.server.log().contains("/v1/device/keys"))
    }

    @Test("a client that skips a check registers no key and replaces no entry")
    func hostile() throws {
        let harness = try Harness()
        let first = try harness.prepareTicket()
        try harness.answering(["again: "], harness.command())
        try harness.prepareTicket()
        let ticket = String(
            decoding: try harness.agent.folder.bytes(of: "ticket.txt").dropLast(), as: UTF8.self)
        let (client, place) = (try harness.agent.client(), try harness.agent.place())
        func order(_ name: String, _ access: AccessControl.Presence?) throws -> SecretBytes {
            let enrolment = Enrolment(
                SecretBytes(text: ticket),
                at: TrustedServer(try #require(ServerAddress(harness.server.address))),
                deviceName: "", name: EntryName(typed: name),
                access: AccessControlChange(presence: access, onFailure: nil))
            return try SecretBytes(
                encoding: LoginRequest.key(.enrol(KeyOrder(enrolment, in: .vault))))
        }
        // A new key, with the standard access control.
        let response = try client.send(.login(place, order("New:ann", nil), .none))
        #expect("\(response)" == "failed(SecretVault.VaultError.presenceNeeded)")
        // A different kind of check than the key requires.
        let opener = AgentFixture.opener
        let other = try client.send(
            .login(place, order("New:ann", .perUse(.pam)), .opener(opener)))
        #expect("\(other)" == "failed(SecretVault.VaultError.differentCheckRequired)")
        // The earlier key, which requires its own check.
        for presence in [AgentPresence.none, .opener(opener)] {
            guard
                case .login(let bytes, _) = try client.send(
                    .login(place, order("Mill:ann", .perUnlock), presence))
            else {
                Issue.record("no answer")
                return
            }
            let answer = try bytes.withBytes { try LoginResponse(parsing: $0) }
            #expect("\(answer)".contains("presenceNeeded"))
        }
        #expect(try harness.server.active() == [first])
        #expect(try harness.agent.run("list --names").text == "Mill:ann\n")
    }
}
