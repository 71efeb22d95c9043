import Foundation
import TestSupport
import Testing

/// Secrets and sign-ins through the system agent.
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
struct SystemAgentSecretsTests {
    @Test("the commands that show secrets ask each time, although the vault is unlocked")
    func secrets() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Site:me", "Plain:me --type secret"])
        try agent.run(AgentFixture.unlock)
        try agent.expectPassphraseEachTime([
            ("show Site --uri --yes", "secret=\(AgentFixture.key)"),
            ("show Site --qr --yes", "▀▀▀▀▀▀▀"), ("show Plain --reveal --yes", AgentFixture.key),
            ("export --yes --only Site", "otpauth://totp/Site:me?secret=\(AgentFixture.key)"),
        ])
        // Root can use only root's own vault.
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
        #expect(try agent.shell("grep -c \(AgentFixture.key) aegis.json || true").text == "0\n")
    }

    @Test("an entry that PAM protects is shown and exported only if PAM permits it")
    func modules() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Bank:me --presence per-use:pam"])
        try agent.run(AgentFixture.unlock)
        for command in ["show Bank --uri --yes", "export --yes"] {
            for (module, status) in [("pam_deny.so", 4), ("pam_permit.so", 0)] as [(String, Int32)]
            {
                try agent.configure("required \(module)")
                let screen = try agent.enteringPassphrase(command, status: status)
                #expect(screen.contains(AgentFixture.key) == (status == 0), "\(command), \(module)")
            }
        }
    }

    @Test("a device enrols, signs in, shows its status and is wiped through the system agent")
    func login() throws {
        let agent = try SystemAgentFixture()
        let server = try LoginServer(certificate: "good")
        try agent.keep(["Site:me"])
        for (name, bytes) in try LoginServer.enrolmentFiles() {
            try agent.write(bytes, to: name)
        }
        let enrolment = server.enrolment("Mill:ann")
        // For one command, the system agent opens the vault with the passphrase.
        try agent.run(enrolment, status: 4)
        #expect(try agent.enteringPassphrase(enrolment).contains("Enrolled Mill:ann"))
        #expect(try agent.enteringPassphrase("login present mill").contains("wwl_"))
        try agent.run(AgentFixture.unlock)
        let tickets = try (0..<2).map { _ in try agent.run("login present mill").text }
        #expect(Set(tickets).count == 2 && tickets.allSatisfy { $0.hasPrefix("wwl_") })
        let status = try agent.run("login status mill --json").text
        #expect(status.contains("\"generation\":2") && status.contains("\"ready\""))
        // The enrolled secret itself is never shown.
        #expect(try !agent.enteringPassphrase("show mill --uri --yes", status: 1).contains("wws_"))
        try agent.run("login wipe mill --yes")
        #expect(try agent.run("list --names").text == "Site:me\n")
        try agent.run("login present mill", status: 1)
    }

    @Test("an enrolled secret that PAM protects signs in only if PAM permits it")
    func protectedLogin() throws {
        let agent = try SystemAgentFixture()
        let server = try LoginServer(certificate: "good")
        try agent.keep()
        for (name, bytes) in try LoginServer.enrolmentFiles() {
            try agent.write(bytes, to: name)
        }
        try agent.run(AgentFixture.unlock)
        try agent.configure("required pam_deny.so")
        try agent.run(server.enrolment("Mill:ann --presence per-use:pam"))
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
