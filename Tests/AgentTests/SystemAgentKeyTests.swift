import TestSupport
import Testing

/// Device keys in a vault that the system agent keeps.
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
struct SystemAgentKeyTests {
    private func prepareTicket(
        _ agent: SystemAgentFixture, _ server: KeyServer, _ more: String = ""
    ) throws -> String {
        let ticket = try server.ticket(for: "ann", more)
        try agent.write(Array("\(ticket.text)\n".utf8), to: "ticket.txt")
        return ticket.credential
    }

    /// Runs a command on a terminal, expects `status`, and returns the screen.
    private func onTerminal(
        _ command: String, _ agent: SystemAgentFixture, status: Int32 = 0
    ) throws -> String {
        let terminal = try agent.terminal(command)
        #expect(try terminal.end() == status, "\(command)\n\(terminal.screen)")
        return terminal.screen
    }

    @Test("a check by PAM in the system agent is enforced, and reported as such to the server")
    func enforced() throws {
        let agent = try SystemAgentFixture()
        let server = try KeyServer()
        try agent.keep()
        try agent.run("unlock --passphrase-file pass.txt")
        let credential = try prepareTicket(agent, server, #","presence":"enforced""#)
        let enrolment =
            "key enrol Mill:ann --server \(server.address) --ticket-file ticket.txt "
            + "--presence per-use:pam --custody vault"
        try agent.configure("required pam_deny.so")
        _ = try onTerminal(enrolment, agent, status: 4)
        #expect(try server.active().isEmpty)
        try agent.configure("required pam_permit.so")
        #expect(try onTerminal(enrolment, agent).contains("Enrolled Mill:ann"))
        #expect(try server.active() == [credential])
        let facts = try server.redeem(onTerminal("key present mill", agent))
        #expect(facts["presence"] == "enforced" && facts["credential"] == credential)
        let text = try server.confirmation(of: "Pay 120.00 EUR", by: credential)
        try agent.write(Array(text.utf8), to: "text.txt")
        let confirmed = try onTerminal(
            "key confirm mill --challenge-file text.txt --yes", agent)
        #expect(confirmed.contains("  | Pay 120.00 EUR"))
        #expect(try server.redeem(confirmed)["presence"] == "enforced")
        let signatures = try server.signatures()
        try agent.configure("required pam_deny.so")
        _ = try onTerminal("key present mill", agent, status: 4)
        #expect(try server.signatures() == signatures)
        try agent.configure("required pam_permit.so")
        #expect(
            try onTerminal("key status mill --json", agent).contains(#""state":"ready""#))
        try agent.run("key wipe mill --yes")
        #expect(try agent.run("list --names").text == "Site:me\n")
    }

    @Test("the system agent uses no TPM that a client specifies")
    func otherTPM() throws {
        let agent = try SystemAgentFixture()
        let server = try KeyServer()
        try agent.keep()
        try agent.run("unlock --passphrase-file pass.txt")
        _ = try prepareTicket(agent, server)
        let enrolment =
            "key enrol Mill:ann --server \(server.address) --ticket-file ticket.txt "
            + "--presence per-unlock"
        for address in ["swtpm:host=127.0.0.1,port=2321", "device:/dev/null"] {
            let refused = try agent.run("\(enrolment) --tpm \(address)", status: 3)
            #expect(
                AgentFixture.errors(refused).contains("uses only this computer's TPM"),
                "\(address)")
        }
        #expect(try !server.log().contains("/v1/device/keys"))
        try agent.run("\(enrolment) --custody vault")
        for address in ["swtpm:host=127.0.0.1,port=2321", "device:/dev/null"] {
            try agent.run("key present mill --tpm \(address)", status: 3)
        }
        #expect(try server.redeem(agent.run("key present mill").text)["presence"] == "none")
        #expect(try server.signatures() == 1)
    }
}
