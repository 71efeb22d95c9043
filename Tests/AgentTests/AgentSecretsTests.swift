import Foundation
import OneTimePassword
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography

/// The commands that show secrets, through the agent.
struct AgentSecretsTests {
    private static let question = "Passphrase: "
    private static let passphrase = AgentPresence.opener(AgentFixture.opener)

    /// An agent that holds a vault.
    private func unlocked(_ more: [String] = []) throws -> AgentFixture {
        let agent = try AgentFixture(
            [
                "Site:me --secret-file key.txt", "Plain:me --type secret --secret-file key.txt",
            ] + more)
        try agent.run(AgentFixture.unlock)
        return agent
    }

    private func prove(
        _ client: AgentClient, _ place: VaultPlace, _ passphrase: String = AgentFixture.passphrase
    ) throws -> AgentResponse {
        let opener = VaultOpener.passphrase(SecretBytes(text: passphrase))
        return try client.send(.prove(place, opener, ceiling: 20))
    }

    private func isRefused(_ response: AgentResponse) -> Bool {
        if case .failed(.presenceNeeded) = response { true } else { false }
    }

    @Test("secrets are shown as without the agent, each time after the passphrase")
    func same() throws {
        let agent = try unlocked()
        try agent.expectPassphraseEachTime([
            ("show Site --uri --yes", "secret=\(AgentFixture.key)"),
            ("show Plain --reveal --yes", AgentFixture.key),
            ("export --yes --only Site", "otpauth://totp/Site:me?secret=\(AgentFixture.key)"),
        ])
        // Wiped entries, and kinds without the requested secret, are refused as without the agent.
        for command in ["show Site --reveal --yes", "show Plain --uri --yes"] {
            let screen = try agent.enteringPassphrase(command, status: 1)
            let direct = try agent.run("\(command) --passphrase-file pass.txt", status: 1)
            let sentence = AgentFixture.errors(direct).dropLast()
            #expect(screen.contains(sentence), "\(command)")
        }
    }

    @Test("an export of many entries through the agent is the same as without it")
    func exported() throws {
        let agent = try unlocked(["Bank:me --presence per-use:passphrase --secret-file key.txt"])
        try agent.shell(
            "for i in $(seq -f %08.0f 1200 | tr 0-9 A-J); do "
                + "echo \"otpauth://totp/App$i:me?secret=${i}NBSWY3DP\"; "
                + "done >many.txt; watchword import -q many.txt")
        try agent.shell(
            "watchword export --passphrase-file pass.txt >direct.txt; chmod 600 pass.txt")
        // The passphrase counts for the first entry that requires a check. The static secret is left
        // out, so the status is 1.
        _ = try agent.enteringPassphrase(
            "export --yes -o held.txt", status: 1)
        try agent.shell("sort direct.txt >a; sort held.txt >b; cmp a b")
        #expect(try agent.shell("grep -c '' held.txt").text == "1202\n")
    }

    @Test("wrong passphrases for showing secrets count with those for unlocking")
    func failures() throws {
        let agent = try unlocked()
        let (client, place) = (try agent.client(), try agent.place())
        for attempt in 1...LockOutPolicy.firstFailureWithWait {
            let response = try prove(client, place, "guess \(attempt)")
            #expect("\(response)" == "failed(SecretVault.VaultError.wrongPassphrase)")
        }
        guard case .failed(.lockedOut) = try prove(client, place) else {
            Issue.record("not locked out")
            return
        }
        let refused = try agent.run("list --passphrase-file pass.txt", status: 4)
        #expect(AgentFixture.errors(refused).contains("too many failures"))
        // The agent still holds the vault.
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("a code for a time in the far future is printed only after the passphrase, each time")
    func future() throws {
        let agent = try unlocked()
        for command in ["code Site --at 20000000000", "verify 353130 Site --at 20000000000 --json"]
        {
            for _ in 0..<2 {
                let screen = try agent.enteringPassphrase(command)
                #expect(screen.contains(command.hasPrefix("code") ? "353130" : "accepted"))
            }
            // Without a terminal, no question can be asked.
            let refused = try agent.run(command, status: 4).text
            #expect(command.hasPrefix("code") ? refused == "" : refused.contains(#""status":4"#))
        }
        try agent.run("code Site --next")
    }

    @Test("the period and the counter change only after the passphrase, which a script cannot give")
    func otherCodes() throws {
        let agent = try unlocked()
        try agent.run("add Count:me --type hotp --secret-file key.txt")
        for command in ["edit Site --period 1", "edit Count --counter 42"] {
            try agent.run(command, status: 4)
            let screen = try agent.enteringPassphrase(command)
            #expect(screen.contains("Changed"))
        }
        #expect(try agent.run("list --json").text.contains("42"))
    }

    @Test("a client gets a secret only after a proof on its own connection, until the next lock")
    func hostile() throws {
        let agent = try unlocked()
        let (client, other, place) = (
            try agent.client(), try agent.client(), try agent.place()
        )
        let ids = try agent.listing(client, of: place).entries.map(\.summary.id)
        let request = AgentRequest.contents(place, ids, .none, isUse: false)
        #expect(isRefused(try client.send(request)))
        // A check of an entry does not prove that the client can open the vault.
        _ = try client.send(.confirm(place, ids[0], Self.passphrase))
        #expect(
            isRefused(try client.send(.contents(place, [ids[0]], Self.passphrase, isUse: true))))
        _ = try prove(client, place, "guess")
        #expect(isRefused(try client.send(request)))
        guard case .done = try prove(client, place) else {
            Issue.record("not proved")
            return
        }
        #expect(isRefused(try other.send(request)))
        guard case .contents(let contents) = try client.send(request) else {
            Issue.record("no secrets")
            return
        }
        #expect(contents.count == 2)
        try agent.run("lock")
        guard case .notHeld = try client.send(request) else {
            Issue.record("the vault is locked")
            return
        }
        try agent.run(AgentFixture.unlock)
        #expect(isRefused(try client.send(request)))
    }

    @Test("a proof for a different vault that the client controls does not count")
    func otherVault() throws {
        let agent = try unlocked()
        let (client, place) = (try agent.client(), try agent.place())
        // Put the vault in the same folder, so that the agent can reach it.
        let folder = "$(dirname \(AgentFixture.vault))"
        try agent.shell(
            "echo mine >mine.txt; watchword init -q --vault \(folder)/other --scrypt-log-n 10 "
                + "--no-recovery-key --passphrase-file mine.txt")
        let own = try VaultPlace(
            at: agent.folder.file(AgentFixture.vault.replacing("/vault", with: "/other")))
        let response = try prove(client, own, "mine")
        guard case .notHeld = response else {
            Issue.record("the agent does not hold it")
            return
        }
        let ids = try agent.listing(client, of: place).entries.map(\.summary.id)
        #expect(isRefused(try client.send(.contents(place, ids, .none, isUse: false))))
        guard case .failed(.wrongPassphrase) = try prove(client, place, "mine") else {
            Issue.record("the passphrase of another vault")
            return
        }
    }

    @Test("a per-use entry requires its own check, one for each entry")
    func perUse() throws {
        let agent = try unlocked([
            "A:a --presence per-use:passphrase --secret-file key.txt",
            "B:b --presence per-use:passphrase --secret-file key.txt",
            "C:c --presence per-use:pam --secret-file key.txt",
        ])
        let (client, place) = (try agent.client(), try agent.place())
        let ids = try agent.listing(client, of: place).entries.map(\.summary.id)
        _ = try prove(client, place)
        func contents(_ ids: [RecordID], _ presence: AgentPresence) throws -> AgentResponse {
            try client.send(.contents(place, ids, presence, isUse: false))
        }
        #expect(isRefused(try contents([ids[2]], .none)))
        #expect(isRefused(try contents(ids, .none)))
        #expect(isRefused(try contents([ids[2], ids[3]], Self.passphrase)))
        guard case .contents = try contents([ids[2]], Self.passphrase) else {
            Issue.record("checked")
            return
        }
        #expect(isRefused(try contents([ids[2]], .none)))
        guard case .failed(.differentCheckRequired) = try contents([ids[4]], Self.passphrase)
        else {
            Issue.record("PAM is required")
            return
        }
        // At the prompts, the passphrase that was just entered counts for one entry.
        let terminal = try agent.terminal("export --yes --only A:a --only B:b")
        try terminal.waitFor(Self.question)
        terminal.clear()
        try terminal.type(AgentFixture.passphrase + "\n")
        try terminal.waitFor("To export B:b (2 of 2), enter the passphrase again: ")
        try terminal.type(AgentFixture.passphrase + "\n")
        #expect(try terminal.end() == 0)
    }
}
