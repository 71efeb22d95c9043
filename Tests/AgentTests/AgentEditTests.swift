import OneTimePassword
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography

/// Changes of a vault that the agent holds.
struct AgentEditTests {
    private static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    private static let items = """
        otpauth://totp/App:ann?secret=\(key)
        otpauth://totp/App:bob?secret=NBSWY3DPO5XXE3DENBSWY3DPO5XXE3DE
        otpauth://hotp/Bank:me?secret=\(key)&counter=9
        """

    /// An agent that holds a vault with two entries.
    private func unlocked(_ options: String = "") throws -> AgentFixture {
        let agent = try AgentFixture([
            "Site:me --secret-file key.txt \(options)",
            "Bank:me --type hotp --counter 5 --secret-file key.txt",
        ])
        try agent.folder.write(Array("MFRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK\n".utf8), to: "new.txt")
        try agent.folder.write(Array(Self.items.utf8), to: "items.txt")
        let replacement = "otpauth://totp/Site:me?secret=NBSWY3DPO5XXE3DENBSWY3DPO5XXE3DE\n"
        try agent.folder.write(Array(replacement.utf8), to: "site.txt")
        try agent.run(AgentFixture.unlock)
        return agent
    }

    private func vault(_ agent: AgentFixture) throws -> [UInt8] {
        try agent.folder.bytes(of: AgentFixture.vault)
    }

    private func generation(_ agent: AgentFixture) throws -> Int {
        let lines = String(decoding: try vault(agent), as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("generation ") })
        return try #require(Int(line.dropFirst("generation ".count)))
    }

    @Test(
        "each command changes the vault in one save, without the passphrase while the agent holds it",
        arguments: [
            ("add App:eve --secret-file new.txt", "eve"),
            ("edit Site:me --secret-file new.txt --tag work", "work"),
            ("edit Bank:me --tag bank", "bank"),
            ("rename Site:me Other:me", "Other"),
            ("remove Site:me --yes --purge", "Bank"),
            ("import items.txt", "bob"),
        ])
    func verbs(command: String, found: String) throws {
        let agent = try unlocked()
        let before = try generation(agent)
        try agent.run(command)
        #expect(try generation(agent) == before + 1)
        #expect(try agent.run("list --json").text.contains(found))
        // Without the agent, the command needs the passphrase.
        try agent.run("lock")
        let refused = try agent.shell("watchword \(command) </dev/null || echo refused")
        #expect(refused.text == "refused\n")
        #expect(try generation(agent) == before + 1)
    }

    @Test("with the agent, a change to a per-use entry needs its check, not only unlocking")
    func perUse() throws {
        let agent = try unlocked("--presence per-use:passphrase")
        let before = try vault(agent)
        for command in [
            "edit Site:me --presence per-unlock", "import site.txt --on-duplicate replace",
            "import site.txt", "rename Site:me Other:me", "remove Site:me --yes",
        ] {
            let refused = try agent.shell(
                "watchword \(command) </dev/null >out.txt || echo refused")
            #expect(refused.text == "refused\n")
        }
        #expect(try vault(agent) == before)
        // Changes that need no check are made without one.
        try agent.run("edit Site:me --tag work")
        let terminal = try agent.terminal("import site.txt --on-duplicate replace")
        for answer in ["wrong", AgentFixture.passphrase] {
            try terminal.waitFor("again: ")
            // The next prompt has the same text, so clear the screen before it appears.
            terminal.clear()
            try terminal.type(answer + "\n")
        }
        #expect(try terminal.end() == 0)
        // The check comes before the secret is read.
        let missing = try agent.answering(
            "again: ", AgentFixture.passphrase, "edit Site:me --secret-file missing.txt", status: 3)
        #expect(missing.contains("missing.txt"))
        // The check for the import does not count for a different change.
        _ = try agent.answering(
            "again: ", AgentFixture.passphrase, "edit Site:me --presence per-unlock")
        try agent.run("edit Site:me --secret-file new.txt")
    }

    @Test("a client that skips the check changes no per-use entry, and each check counts once")
    func hostile() throws {
        let agent = try unlocked("--presence per-use:passphrase")
        let place = try VaultPlace(at: agent.folder.file(AgentFixture.vault))
        let client = try agent.client()
        guard case .listing(let listing) = try client.send(.list(place)) else {
            Issue.record("no listing")
            return
        }
        let entry = try #require(listing.entries.first).summary
        let weaker = EntryRevision.withoutChecks(of: entry)
        let content = EntryContent.oneTimePassword(
            try Credential(
                issuer: "Site", account: "me", key: SecretBytes(text: "a key of the attacker")))
        let replacing = VaultEdit.importing(
            ImportEdit(
                [ImportItem(content, details: EntryDetails(), origin: nil)],
                DuplicateChoices(.replace)))
        let before = try vault(agent)
        let wrong = AgentPresence.opener(.passphrase(SecretBytes(text: "wrong")))
        func isRefused(_ response: AgentResponse) -> Bool {
            switch response {
            case .failed(.presenceNeeded), .refused: true
            case .edited(.imported(let items, _), _):
                items == [.refused(.requiresCheckPerUse(entry.name))]
            default: false
            }
        }
        for request in [
            .edit(place, .revise(weaker), .none), .rehearse(place, .revise(weaker)),
            .edit(place, .remove(entry.id, purge: true), .none),
            .edit(place, .rename(entry.id, to: EntryName(typed: "Other:me")), .none),
            .edit(place, .revise(EntryRevision(account: "you", of: entry)), .none),
            .edit(place, .remove(entry.id, purge: false), wrong), .confirm(place, entry.id, .none),
            .confirm(place, entry.id, wrong), .edit(place, replacing, .none),
        ] as [AgentRequest] {
            #expect(isRefused(try client.send(request)))
        }
        #expect(try vault(agent) == before)
        let right = AgentPresence.opener(AgentFixture.opener)
        guard case .done = try client.send(.confirm(place, entry.id, right)) else {
            Issue.record("not confirmed")
            return
        }
        // The check counts only on its own connection.
        #expect(isRefused(try agent.client().send(.edit(place, replacing, .none))))
        guard case .edited(let outcome, _) = try client.send(.edit(place, replacing, .none))
        else {
            Issue.record("not edited")
            return
        }
        #expect(outcome == .imported([.replaced(entry.name)], replacedPerUse: [entry.id]))
        #expect(isRefused(try client.send(.edit(place, replacing, .none))))
    }

    @Test("no response reveals whether a guess is the secret of a per-use entry")
    func guesses() throws {
        let agent = try AgentFixture(["Site:me --presence per-use:pam --secret-file key.txt"])
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        func answers(_ guess: String) throws -> [String] {
            var requests: [AgentRequest] = []
            for issuer in ["Site", "New"] {
                let content = EntryContent.oneTimePassword(
                    try Credential(issuer: issuer, account: "me", key: SecretBytes(text: guess)))
                let item = ImportItem(content, details: EntryDetails(), origin: nil)
                requests += DuplicatePolicy.allCases.map { policy in
                    .rehearse(place, .importing(ImportEdit([item], DuplicateChoices(policy))))
                }
                let entry = NewEntry(
                    content, details: EntryDetails(), accessControl: .standard(for: .totp))
                requests.append(.rehearse(place, .add(entry)))
            }
            return try requests.map { "\(try client.send($0))" }
        }
        let told = try answers("12345678901234567890")
        #expect(try answers("12345678901234567891") == told)
        #expect(told.allSatisfy { $0.hasPrefix("edited(") })
    }
}

extension EntryRevision {
    /// A revision that changes only the account.
    fileprivate init(account: String, of entry: EntrySummary) {
        self.init(of: entry)
        self.account = account
    }
}
