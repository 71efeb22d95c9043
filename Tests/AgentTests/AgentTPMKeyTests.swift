import Foundation
import TestSupport
import Testing

/// Device keys in a TPM, through the agent.
@Suite(.serialized, .enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
struct AgentTPMKeyTests {
    private let agent: AgentFixture
    private let server: KeyServer
    private let tpm: EmulatedTPM

    init() throws {
        agent = try AgentFixture([])
        server = try KeyServer()
        tpm = try EmulatedTPM()
        try agent.run(AgentFixture.unlock)
    }

    private func prepareTicket() throws {
        let ticket = try server.ticket()
        try agent.folder.write(Array("\(ticket.text)\n".utf8), to: "ticket.txt")
        try agent.shell("chmod 600 *.txt")
    }

    private func enrolment(_ more: String) -> String {
        "key enrol Mill:ann --server \(server.address) --ticket-file ticket.txt "
            + "--presence per-unlock --tpm \(tpm.address) \(more)"
    }

    private var present: String { "key present mill --tpm \(tpm.address)" }

    /// Enrols a key with the PIN 2580.
    private func enrolWithPIN() throws {
        try prepareTicket()
        let terminal = try agent.terminal(enrolment("--pin"))
        for question in ["New PIN for the TPM: ", "New PIN again: "] {
            try terminal.waitFor(question)
            terminal.clear()
            try terminal.type("2580\n")
        }
        #expect(try terminal.end() == 0, "\(terminal.screen)")
        #expect(terminal.screen.contains("The key is in the TPM; it requires the PIN."))
        #expect(!terminal.screen.contains("2580"))
    }

    @Test("a TPM creates a key and signs; without --tpm or with a different TPM, nothing is signed")
    func signs() throws {
        try prepareTicket()
        let enrolled = try agent.run(enrolment("--custody tpm"))
        #expect(AgentFixture.errors(enrolled).contains("The key is in the TPM."))
        let facts = try server.redeem(agent.run(present).text)
        #expect(facts["custody"] == "tpm" && facts["presence"] == "none")
        #expect(try agent.run("key status mill --json").text.contains(#""custody":"tpm""#))
        let signatures = try server.signatures()
        let other = try EmulatedTPM()
        for (address, status, words) in [
            (other.address, 4, "made by a different TPM"),
            ("device:/nonexistent", 6, "no TPM 2 was found"),
        ] as [(String, Int32, String)] {
            let refused = try agent.run("key present mill --tpm \(address)", status: status)
            #expect(AgentFixture.errors(refused).contains(words))
        }
        #expect(try server.signatures() == signatures)
        // The agent and the command itself use the same key.
        let own = try agent.run("\(present) --passphrase-file pass.txt").text
        #expect(try server.redeem(own)["custody"] == "tpm")
    }

    @Test("without a TPM, a key is created in the vault, but not with --custody tpm")
    func fallback() throws {
        try prepareTicket()
        func withoutTPM(_ more: String) -> String {
            enrolment(more).replacing(tpm.address, with: "device:/nonexistent")
        }
        try agent.run(withoutTPM("--custody tpm"), status: 6)
        #expect(try agent.run("list").text == "")
        let enrolled = try agent.run(withoutTPM(""))
        #expect(AgentFixture.errors(enrolled).contains("The key is in the vault."))
    }

    @Test("the terminal prompts for the PIN, again after a wrong PIN, and never shows it")
    func pin() throws {
        try enrolWithPIN()
        let terminal = try agent.terminal(present)
        try terminal.waitFor("PIN of the TPM: ")
        terminal.clear()
        try terminal.type("0852\n")
        try terminal.waitFor("PIN of the TPM: ")
        #expect(terminal.screen.contains("wrong PIN; "))
        #expect(terminal.screen.contains("attempts left"))
        terminal.clear()
        try terminal.type("2580\n")
        #expect(try terminal.end() == 0, "\(terminal.screen)")
        #expect(!terminal.screen.contains("2580"))
        #expect(try server.redeem(terminal.screen)["custody"] == "tpm")
        // Without a terminal, no PIN can be entered.
        let signatures = try server.signatures()
        try agent.run(present, status: 4)
        try agent.folder.write(Array("2580\n".utf8), to: "pin.txt")
        try agent.folder.write(Array("1111\n".utf8), to: "bad.txt")
        let wrong = try agent.run("\(present) --pin-file bad.txt", status: 4)
        #expect(AgentFixture.errors(wrong).contains("wrong PIN"))
        #expect(try server.signatures() == signatures)
        let ticket = try agent.run("\(present) --pin-file pin.txt").text
        #expect(try server.redeem(ticket)["custody"] == "tpm")
    }

    @Test("locking the vault ends the PIN prompt, and nothing is signed")
    func lock() throws {
        try enrolWithPIN()
        let terminal = try agent.terminal(present)
        try terminal.waitFor("PIN of the TPM: ")
        try agent.run("lock")
        #expect(try terminal.end() == 4, "\(terminal.screen)")
        #expect(terminal.screen.contains("the agent has locked the vault"))
        #expect(try server.signatures() == 0)
        // Other clients are not affected.
        try agent.run(AgentFixture.unlock)
        try agent.run("list")
    }

    @Test("an interrupted enrolment does not ask for a new PIN")
    func interrupted() throws {
        try prepareTicket()
        let lost =
            "key enrol Mill:ann --server http://localhost:1 --ticket-file ticket.txt "
            + "--presence per-unlock --tpm \(tpm.address) --pin"
        try agent.folder.write(Array("2580\n".utf8), to: "pin.txt")
        try agent.run(lost + " --pin-file pin.txt", status: 6)
        // The key was already created, and the registration is sent again.
        try agent.run(lost, status: 6)
        let elsewhere = try agent.run(
            lost.replacing(" --pin", with: " --custody vault"), status: 3)
        #expect(AgentFixture.errors(elsewhere).contains("made the key elsewhere"))
    }

    @Test("K-79 a helper process that ends or violates the protocol yields no signature")
    func faultyHelper() throws {
        try prepareTicket()
        try agent.run(enrolment("--custody tpm"))
        try agent.run("agent stop")
        try agent.shell(
            """
            mkdir bin
            for name in watchword watchword-agent; do cp "$(command -v $name)" bin; done
            ln -s "$(dirname "$(command -v watchword)")/watchword-courier" bin
            bin/watchword \(AgentFixture.unlock)
            """)
        let before = try agent.folder.bytes(of: AgentFixture.vault)
        let ready = #"printf '\002\000\000\000\001\004'; "#
        for (script, words) in [
            ("exit 3", "watchword-token"), ("echo hello", "invalid response"),
            (ready + "/usr/bin/head -c 40 >/dev/null; kill -9 $$", "watchword-token"),
            (
                ready + #"printf '\016\000\000\000\004\002\000\000\000\010AAAAAAAA'"#,
                "invalid response"
            ),
        ] {
            try agent.folder.addProgram("#!/bin/sh\n\(script)\n", as: "bin/watchword-token")
            let outcome = try agent.shell("bin/watchword \(present)", status: 6)
            #expect(AgentFixture.errors(outcome).contains(words), "\(script)")
        }
        // The helper program is missing.
        try agent.shell("rm bin/watchword-token; bin/watchword \(present)", status: 6)
        #expect(try server.signatures() == 0)
        #expect(try agent.folder.bytes(of: AgentFixture.vault) == before)
        try agent.shell("bin/watchword list")
    }
}
