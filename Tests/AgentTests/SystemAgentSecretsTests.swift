import Foundation
import TestSupport
import Testing

/// Secrets and sign-ins through the system agent.
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
struct SystemAgentSecretsTests {
    private static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    private static let question = "Passphrase: "
    private static let unlock = "unlock --passphrase-file pass.txt"

    /// Runs `watchword` on a terminal, enters the passphrase, and returns the screen.
    private func answering(
        _ agent: SystemAgentFixture, _ command: String, status: Int32 = 0
    ) throws -> String {
        let terminal = try agent.terminal(command)
        try terminal.waitFor(Self.question)
        try terminal.type(AgentFixture.passphrase + "\n")
        #expect(try terminal.end() == status, "\(command)")
        return terminal.screen
    }

    @Test("the verbs that show secrets ask each time, although the vault is unlocked")
    func secrets() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Site:me", "Plain:me --type secret"])
        try agent.run(Self.unlock)
        for (command, found) in [
            ("show Site --uri --yes", "secret=\(Self.key)"), ("show Site --qr --yes", "▀▀▀▀▀▀▀"),
            ("show Plain --reveal --yes", Self.key),
            ("export --yes --only Site", "otpauth://totp/Site:me?secret=\(Self.key)"),
        ] {
            for _ in 0..<2 { #expect(try answering(agent, command).contains(found), "\(command)") }
            #expect(try agent.run(command, status: 4).text == "")
            let wrong = try agent.terminal(command)
            for _ in 0..<3 {
                try wrong.waitFor(Self.question)
                wrong.clear()
                try wrong.type("guess\n")
            }
            #expect(try wrong.end() == 4)
            #expect(!wrong.screen.contains(found))
            try agent.run(Self.unlock)
        }
        // Root reaches only a vault of its own.
        #expect(try agent.run("export --yes", as: .root, status: 3).text == "")
    }

    @Test("a backup that the system agent exports belongs to the user, and opens")
    func backup() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Site:me", "Bank:me --presence per-use:passphrase"])
        let files = "--passphrase-file pass.txt --export-password-file pass.txt"
        try agent.run("export --format watchword -o backup.vault \(files)")
        #expect(try agent.shell("stat -c '%U %a' backup.vault").text == "games 600\n")
        let list = "list --names --vault backup.vault --passphrase-file pass.txt"
        #expect(try agent.run(list).text == "Bank:me\nSite:me\n")
        try agent.run("export --format aegis -o aegis.json --only Site \(files)")
        #expect(try agent.shell("grep -c \(Self.key) aegis.json || true").text == "0\n")
    }

    @Test("an entry that PAM protects is shown and exported only if PAM permits it")
    func modules() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Bank:me --presence per-use:pam"])
        try agent.run(Self.unlock)
        for command in ["show Bank --uri --yes", "export --yes"] {
            for (module, status) in [("pam_deny.so", 4), ("pam_permit.so", 0)] as [(String, Int32)]
            {
                try agent.configure("required \(module)")
                let screen = try answering(agent, command, status: status)
                #expect(screen.contains(Self.key) == (status == 0), "\(command), \(module)")
            }
        }
    }

    @Test("a device enrols, signs in, shows its status and is wiped through the system agent")
    func login() throws {
        let agent = try SystemAgentFixture()
        let server = try LoginServer(certificate: "good")
        try agent.keep(["Site:me"])
        try agent.write(Array("wwt_ticket\n".utf8), to: "ticket.txt")
        try agent.write(try TestCertificates.authority(), to: "ca.pem")
        let enrolment =
            "login enrol Mill:ann --server https://localhost:\(server.port) --ca-file ca.pem "
            + "--ticket-file ticket.txt"
        // For one command, the system agent opens the vault with the passphrase.
        try agent.run(enrolment, status: 4)
        #expect(try answering(agent, enrolment).contains("Enrolled Mill:ann"))
        #expect(try answering(agent, "login present mill").contains("wwl_"))
        try agent.run(Self.unlock)
        let tickets = try (0..<2).map { _ in try agent.run("login present mill").text }
        #expect(Set(tickets).count == 2 && tickets.allSatisfy { $0.hasPrefix("wwl_") })
        let status = try agent.run("login status mill --json").text
        #expect(status.contains("\"generation\":2") && status.contains("\"ready\""))
        // The secret itself is never shown.
        #expect(try !answering(agent, "show mill --uri --yes", status: 1).contains("wws_"))
        try agent.run("login wipe mill --yes")
        #expect(try agent.run("list --names").text == "Site:me\n")
        try agent.run("login present mill", status: 1)
    }

    @Test("an enrolled secret that PAM protects signs in only if PAM permits it")
    func protectedLogin() throws {
        let agent = try SystemAgentFixture()
        let server = try LoginServer(certificate: "good")
        try agent.keep()
        try agent.write(Array("wwt_ticket\n".utf8), to: "ticket.txt")
        try agent.write(try TestCertificates.authority(), to: "ca.pem")
        try agent.run(Self.unlock)
        try agent.configure("required pam_deny.so")
        try agent.run(
            "login enrol Mill:ann --server https://localhost:\(server.port) --ca-file ca.pem "
                + "--ticket-file ticket.txt --presence per-use:pam")
        let sent = try server.requests().count
        let refused = try agent.terminal("login present mill")
        #expect(try refused.end() == 4)
        #expect(!refused.screen.contains("wwl_"))
        #expect(try server.requests().count == sent)
        try agent.configure("required pam_permit.so")
        let permitted = try agent.terminal("login present mill")
        #expect(try permitted.end() == 0)
        #expect(permitted.screen.contains("wwl_"))
    }
}
