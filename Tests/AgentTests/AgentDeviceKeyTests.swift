import Courier
import DeviceLogin
import Devices
import Foundation
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import VaultService

/// Signatures for a real server by a device key that the agent holds.
@Suite(.serialized)
struct AgentDeviceKeyTests {
    /// An agent that holds a vault with a device key, and the key's server.
    struct Harness {
        let agent: AgentFixture
        let server: KeyServer
        private(set) var credential = ""

        /// - Parameter access: options of the enrolment, which is made without the agent.
        init(_ access: String = "--presence per-use:passphrase") throws {
            agent = try AgentFixture([])
            server = try KeyServer()
            credential = try prepareTicket()
            try agent.run("\(enrolment) --custody vault \(access) --passphrase-file pass.txt")
            try agent.run(AgentFixture.unlock)
        }

        /// Writes a ticket to a file, and returns its credential.
        @discardableResult
        func prepareTicket(_ more: String = "") throws -> String {
            let ticket = try server.ticket(for: "ann", more)
            try agent.folder.write(Array("\(ticket.text)\n".utf8), to: "ticket.txt")
            try agent.shell("chmod 600 *.txt")
            return ticket.credential
        }

        var enrolment: String {
            "key enrol Mill:ann --server \(server.address) --ticket-file ticket.txt"
        }

        /// The prompt of the check for a sign-in.
        var question: String {
            "To sign in to \(server.address) with Mill:ann, enter the passphrase again: "
        }

        /// Writes the file with a text to confirm.
        func prepare(_ text: String) throws {
            let file = try server.confirmation(of: text, by: credential)
            try agent.folder.write(Array(file.utf8), to: "text.txt")
        }

        /// Signs in with a passphrase, and expects the check to be reported to the application.
        func expectSignIn() throws {
            let screen = try agent.answering(
                question, AgentFixture.passphrase, "key present mill")
            try expect(screen, ["purpose": "sign-in", "presence": "cryptographic"])
        }

        func expect(_ screen: String, _ facts: [String: String]) throws {
            let found = try server.redeem(screen)
            #expect(found["subject"] == "ann" && found["custody"] == "vault")
            for (name, value) in facts { #expect(found[name] == value, "\(found)") }
        }

        var id: RecordID {
            get throws {
                let entries = try agent.listing(agent.client(), of: agent.place()).entries
                return try #require(entries.first).summary.id
            }
        }
    }

    @Test("a key signs in and confirms a text after a check for each, and states the kind of check")
    func uses() throws {
        let harness = try Harness()
        let agent = harness.agent
        try agent.run("key present mill", status: 4)
        for _ in 0..<2 { try harness.expectSignIn() }
        let text = "Pay 120.00 EUR to Paper Mill"
        try harness.prepare(text)
        let terminal = try agent.terminal("key confirm mill --challenge-file text.txt")
        try terminal.waitFor("Sign this line for \(harness.server.address)? [y/N] ")
        #expect(terminal.screen.contains("  | \(text)"))
        terminal.clear()
        try terminal.type("y\n")
        try terminal.waitFor(
            "To confirm the text for \(harness.server.address) with Mill:ann, enter the passphrase "
                + "again: ")
        terminal.clear()
        try terminal.type(AgentFixture.passphrase + "\n")
        #expect(try terminal.end() == 0)
        let digest = sha256(Array(text.utf8).span)
        try harness.expect(
            terminal.screen,
            [
                "purpose": "confirm", "presence": "cryptographic",
                "text_sha256": Base64URL.encode(digest.span),
            ])
        // A person who declines is not asked for the passphrase.
        let signatures = try harness.server.signatures()
        _ = try agent.answering(
            "[y/N] ", "n", "key confirm mill --challenge-file text.txt", status: 1)
        #expect(try harness.server.signatures() == signatures)
    }

    @Test("the status is the same as without the agent, and a wiped key is gone")
    func statusAndWipe() throws {
        let harness = try Harness("--presence per-unlock")
        let agent = harness.agent
        let status = try agent.run("key status mill --json").text
        #expect(status.contains(#""state":"ready""#) && status.contains(harness.credential))
        let direct = "--passphrase-file pass.txt"
        #expect(try agent.run("key status mill --json \(direct)").text == status)
        #expect(
            try agent.run("key status mill").text == agent.run("key status mill \(direct)").text)
        try agent.run("login status mill", status: 1)
        try agent.run("key wipe mill --yes")
        #expect(try agent.run("list").text == "")
        try agent.run("key present mill", status: 1)
    }

    @Test("without a check at each use, the signature states that no check was made")
    func unchecked() throws {
        let harness = try Harness("--presence per-unlock")
        let ticket = try harness.agent.run("key present mill").text
        try harness.expect(ticket, ["presence": "none"])
        // Without the agent, the passphrase was entered for this use.
        let own = try harness.agent.run("key present mill --passphrase-file pass.txt").text
        try harness.expect(own, ["presence": "cryptographic"])
    }

    @Test("a check may be reused to sign in, but not to confirm a text")
    func reuse() throws {
        let harness = try Harness("--presence per-use:passphrase")
        // The entry keeps its key.
        _ = try harness.agent.answering(
            "enter the passphrase again: ", AgentFixture.passphrase, "edit mill --reuse 300")
        try harness.agent.run("key present mill", status: 4)
        try harness.expectSignIn()
        let ticket = try harness.agent.run("key present mill").text
        try harness.expect(ticket, ["presence": "cryptographic"])
        try harness.prepare("Pay")
        try harness.agent.run("key confirm mill --challenge-file text.txt --yes", status: 4)
        try harness.agent.run("key status mill", status: 4)
    }

    @Test("a check by PAM is advisory, and if it fails, nothing is signed")
    func modules() throws {
        let harness = try Harness("--presence per-use:pam")
        let agent = harness.agent
        try agent.run("agent stop")
        try agent.installModules()
        try agent.shell(
            #"ln -s "$(dirname "$(command -v watchword)")/watchword-courier" bin"#)
        try agent.configure("required pam_deny.so")
        try agent.shell("bin/watchword \(AgentFixture.unlock)")
        let requests = try harness.server.log().components(separatedBy: "/v1/device/").count
        try agent.shell("bin/watchword key present mill", status: 4)
        #expect(
            try harness.server.log().components(separatedBy: "/v1/device/").count == requests)
        try agent.configure("required pam_permit.so")
        let ticket = try agent.shell("bin/watchword key present mill").text
        try harness.expect(ticket, ["presence": "advisory"])
    }

    @Test("three wrong checks wipe the key through the agent, and nothing is signed")
    func wrong() throws {
        let harness = try Harness()
        let terminal = try harness.agent.terminal("key present mill")
        for _ in 0..<3 {
            try terminal.waitFor("again: ")
            terminal.clear()
            try terminal.type("guess\n")
        }
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("was wiped after too many failures"))
        #expect(try harness.server.signatures() == 0)
        let status = try harness.agent.run("key status mill --json").text
        #expect(status.contains(#""state":"wiped""#) && status.contains(#""failures""#))
    }

    @Test("a key that the server revoked is wiped")
    func revoked() throws {
        let harness = try Harness("--presence per-unlock")
        try harness.server.ask("DELETE", "/v1/credentials/\(harness.credential)", "")
        let refused = try harness.agent.run("key present mill", status: 5)
        #expect(AgentFixture.errors(refused).contains("the server revoked it"))
        let status = try harness.agent.run("key status mill --json").text
        #expect(status.contains(#""state":"wiped""#) && status.contains(#""revoked""#))
    }

    @Test("a lock ends the check, and nothing is signed")
    func lock() throws {
        let harness = try Harness("--presence per-use:pam")
        let agent = harness.agent
        try agent.run("agent stop")
        try agent.installModules()
        try agent.shell(
            """
            ln -s "$(dirname "$(command -v watchword)")/watchword-courier" bin
            printf '#!/bin/sh\\ntouch %s/asked\\nexec sleep 3600\\n' "$PWD" >wait
            chmod 755 wait
            """)
        try agent.configure("required pam_exec.so quiet \(agent.folder.file("wait"))")
        try agent.shell("bin/watchword \(AgentFixture.unlock)")
        let terminal = try agent.terminal("key present mill", program: "bin/watchword")
        try agent.shell("until [ -e asked ]; do :; done")
        try agent.run("lock")
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("the agent has locked the vault"))
        #expect(try harness.server.signatures() == 0)
    }

    @Test(
        "a client gets no signature without the check or for a different server, and never the key")
    func hostile() throws {
        let harness = try Harness()
        let (client, place) = (try harness.agent.client(), try harness.agent.place())
        let id = try harness.id
        let server = try #require(ServerAddress(harness.server.address))
        let order = SigningOrder(for: server, in: .standard)
        func response(
            to task: KeyRequest, _ presence: AgentPresence = .none
        ) throws -> AgentResponse {
            try client.send(.login(place, SecretBytes(encoding: LoginRequest.key(task)), presence))
        }
        try harness.prepare("Pay")
        let file = String(
            decoding: try harness.agent.folder.bytes(of: "text.txt"), as: UTF8.self)
        let text = try #require(KeyConfirmation(parsing: file))
        for task in [.signIn(id, order), .confirm(id, text, order), .status(id)] as [KeyRequest] {
            #expect(
                "\(try response(to: task))" == "failed(SecretVault.VaultError.presenceNeeded)")
        }
        // The server shown to the person differs from the key's server.
        let opener = AgentFixture.opener
        let other = SigningOrder(
            for: try #require(ServerAddress("https://other.example")), in: .standard)
        let misled = try response(to: .signIn(id, other), .opener(opener))
        #expect("\(misled)" == "failed(SecretVault.VaultError.changedMeanwhile)")
        #expect(try harness.server.signatures() == 0)
        // The key is not shown, even after a proof.
        _ = try client.send(.prove(place, opener, ceiling: 20))
        let shown = try client.send(.contents(place, [id], .opener(opener), isUse: false))
        #expect("\(shown)" == "failed(SecretVault.VaultError.otherKind)")
        guard case .login(let answer, _) = try response(to: .signIn(id, order), .opener(opener))
        else {
            Issue.record("no answer")
            return
        }
        let ticket = try answer.withBytes { try LoginResponse(parsing: $0) }
        guard case .ticket(let ticket) = ticket else {
            Issue.record("no ticket")
            return
        }
        try harness.expect(
            String(decoding: ticket.text.known, as: UTF8.self), ["presence": "cryptographic"])
    }
}
