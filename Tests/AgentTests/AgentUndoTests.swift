import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault
@testable import VaultService

/// Undo and merge in a vault that the agent holds.
struct AgentUndoTests {
    private static let add = "add -q --secret-file key.txt --passphrase-file pass.txt"

    private func vault(_ agent: AgentFixture) throws -> [UInt8] {
        try agent.folder.bytes(of: AgentFixture.vault)
    }

    private func refusal(_ response: AgentResponse) -> VaultError? {
        if case .failed(let error) = response { error } else { nil }
    }

    private func plan(_ client: AgentClient, _ place: VaultPlace) throws -> [UndoneChange] {
        guard case .undone(let changes, _, _) = try client.send(.undo(place, nil)) else {
            throw AgentFailure.malformed
        }
        return changes
    }

    /// Undoes the last change, which must need no check.
    private func undo(_ client: AgentClient, _ place: VaultPlace) throws {
        let plan = try plan(client, place)
        guard case .undone = try client.send(.undo(place, plan)) else {
            throw AgentFailure.malformed
        }
    }

    private func outline(
        _ client: AgentClient, _ place: VaultPlace, _ request: MergeRequest
    ) throws -> MergeOutline {
        guard case .merged(let outline, _) = try client.send(.merge(place, request)) else {
            throw AgentFailure.malformed
        }
        return outline
    }

    @Test("undo, merge and slot list need no passphrase while the agent holds the vault")
    func verbs() throws {
        let agent = try AgentFixture()
        try agent.shell(
            """
            mkdir -m 700 laptop; cp -p \(AgentFixture.vault) laptop/vault
            watchword \(Self.add) New:n --vault laptop/vault
            """)
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run("slot list").text.hasPrefix("1  passphrase  scrypt 2^10  "))
        #expect(try agent.run("slot list --json").text.contains("\"used\":false"))
        try agent.run("remove Site:me --yes")
        #expect(try agent.run("undo --dry-run").text == "restored: Site:me\n")
        #expect(try agent.run("undo --yes").text == "restored: Site:me\n")
        #expect(try agent.run("merge laptop/vault --dry-run").text == "added: New:n\n")
        #expect(try agent.run("merge laptop/vault").text == "added: New:n\n")
        #expect(try agent.run("undo --yes").text == "removed: New:n\n")
        #expect(try agent.run("list --names").text == "Site:me\n")
        try agent.run("lock")
        let before = try vault(agent)
        for command in ["undo --yes", "merge laptop/vault", "slot list"] {
            try agent.run(command, status: 4)
        }
        #expect(try vault(agent) == before)
    }

    @Test("a file with a different key is merged by the command, which asks for both passphrases")
    func otherKey() throws {
        let agent = try AgentFixture()
        try agent.shell(
            """
            mkdir -m 700 old; cp -p \(AgentFixture.vault) old/vault
            watchword \(Self.add) Old:o --vault old/vault
            watchword rekey -q --passphrase-file pass.txt
            """)
        try agent.run(AgentFixture.unlock)
        let terminal = try agent.terminal("merge old/vault")
        try terminal.waitFor("The agent cannot merge old/vault, because the file has a different")
        try terminal.waitFor("Passphrase: ")
        try terminal.type(AgentFixture.passphrase + "\n")
        try terminal.waitFor("Passphrase of old/vault: ")
        try terminal.type(AgentFixture.passphrase + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("added: Old:o"))
        // The agent uses the file that the command has saved.
        #expect(try agent.run("list --names").text == "Old:o\nSite:me\n")
    }

    @Test(
        "a client that skips the check undoes no change of a per-use entry, and a check counts once",
        arguments: [
            "\(add) Safe:me --presence per-use:passphrase",
            "edit -q Site:me --presence per-use:passphrase --passphrase-file pass.txt",
        ])
    func hostile(change: String) throws {
        let agent = try AgentFixture()
        try agent.run(change)
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        let before = try vault(agent)
        let plan = try plan(client, place)
        let id = try #require(plan.first).id
        #expect(refusal(try client.send(.undo(place, plan))) == .presenceNeeded)
        let claimed = plan.map { change in
            UndoneChange(
                id: change.id, issuer: change.issuer, account: change.account,
                renamedFrom: change.renamedFrom, action: change.action, requiresCheck: false)
        }
        #expect(refusal(try client.send(.undo(place, claimed))) == .busy)
        let wrong = AgentPresence.opener(.passphrase(SecretBytes(text: "wrong")))
        guard case .refused = try client.send(.confirm(place, id, wrong)) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal(try client.send(.undo(place, plan))) == .presenceNeeded)
        let right = AgentPresence.opener(AgentFixture.opener)
        guard case .done = try client.send(.confirm(place, id, right)) else {
            Issue.record("not confirmed")
            return
        }
        // The check counts only on its own connection, and for one request.
        #expect(refusal(try agent.client().send(.undo(place, plan))) == .presenceNeeded)
        #expect(refusal(try client.send(.undo(place, claimed))) == .busy)
        #expect(refusal(try client.send(.undo(place, plan))) == .presenceNeeded)
        #expect(try vault(agent) == before)
        _ = try client.send(.confirm(place, id, right))
        guard case .undone = try client.send(.undo(place, plan)) else {
            Issue.record("not undone")
            return
        }
        #expect(try vault(agent) != before)
    }

    @Test("a client that skips the check merges no file that wipes or removes a per-use entry")
    func hostileMerge() throws {
        let agent = try AgentFixture([
            "Site:me --presence per-use:passphrase --secret-file key.txt"
        ])
        try agent.shell(
            """
            mkdir -m 700 laptop; cp -p \(AgentFixture.vault) laptop/vault; cp \(AgentFixture.vault) good
            watchword remove -qy Site:me --vault laptop/vault --passphrase-file pass.txt
            """)
        // Anyone who can write a file can mark an entry in it as wiped.
        try agent.forgeTombstone()
        try agent.shell("cp \(AgentFixture.vault) wiped; cat good >\(AgentFixture.vault)")
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        let id = try #require(agent.listing(client, of: place).entries.first).summary.id
        let before = try vault(agent)
        let right = AgentPresence.opener(AgentFixture.opener)
        for (name, accepted) in [("wiped", [id]), ("laptop/vault", [])] {
            let file = try agent.folder.bytes(of: name)
            let planned = try outline(client, place, MergeRequest(file, acceptedWipes: accepted))
            #expect(planned.changes.map(\.requiresCheck) == [true])
            let request = MergeRequest(file, acceptedWipes: accepted, seen: planned.changes)
            #expect(refusal(try client.send(.merge(place, request))) == .presenceNeeded)
            let claimed = MergeRequest(file, acceptedWipes: accepted, seen: [])
            #expect(refusal(try client.send(.merge(place, claimed))) == .busy)
        }
        // The owner has not allowed the wipe, so the entry stays.
        let wiped = try agent.folder.bytes(of: "wiped")
        let declined = try outline(client, place, MergeRequest(wiped))
        #expect(declined.declinedWipes == [id] && declined.changes.isEmpty)
        #expect(try vault(agent) == before)
        let removing = try agent.folder.bytes(of: "laptop/vault")
        let planned = try outline(client, place, MergeRequest(removing))
        _ = try client.send(.confirm(place, id, right))
        _ = try outline(client, place, MergeRequest(removing, seen: planned.changes))
        #expect(try agent.listing(client, of: place).entries.isEmpty)
    }

    @Test("undoing restores no counter and no wiped secret, and clears no failure")
    func neverBack() throws {
        let agent = try AgentFixture([
            "Site:me --secret-file key.txt",
            "Bank:me --type hotp --counter 5 --secret-file key.txt",
            "Safe:me --presence per-use:passphrase --on-failure wipe:3 --secret-file key.txt",
        ])
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        let entries = try agent.listing(client, of: place).entries.map(\.summary)
        let bank = try #require(entries.first { $0.issuer == "Bank" }).id
        let safe = try #require(entries.first { $0.issuer == "Safe" }).id
        guard case .code = try client.send(.code(place, bank, .counter, .none)) else {
            Issue.record("no code")
            return
        }
        #expect(refusal(try client.send(.undo(place, nil))) == .nothingToUndo(.onlyAdvanced))
        func failures() throws -> Int64? {
            let response = try client.send(.lockOut(place, safe))
            if case .lockOut(let lockOut) = response { return lockOut.failures }
            return nil
        }
        let wrong = AgentPresence.opener(.passphrase(SecretBytes(text: "wrong")))
        for _ in 1...2 { _ = try client.send(.confirm(place, safe, wrong)) }
        let counted = try failures()
        #expect((counted ?? 0) >= 2)
        try agent.run("edit Site:me --tag work")
        try undo(client, place)
        #expect(try failures() == counted)
        _ = try client.send(.confirm(place, safe, wrong))
        try agent.run("edit Site:me --tag work")
        try undo(client, place)
        let listed = try agent.listing(client, of: place).entries
        #expect(listed.first { $0.summary.id == safe }?.summary.tombstone?.reason == .failures)
        #expect(listed.first { $0.summary.id == bank }?.counter == 6)
    }

    @Test("a plan that does not match the current effect is refused, even if it matched before")
    func otherPlan() throws {
        let agent = try AgentFixture()
        try agent.shell(
            """
            mkdir -m 700 laptop; cp -p \(AgentFixture.vault) laptop/vault
            watchword \(Self.add) New:n --vault laptop/vault
            """)
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        let file = try agent.folder.bytes(of: "laptop/vault")
        let (seen, merging) = (
            try plan(client, place), try outline(client, place, MergeRequest(file)).changes
        )
        try agent.run("edit Site:me --tag work")
        let before = try vault(agent)
        #expect(refusal(try client.send(.undo(place, seen))) == .busy)
        try agent.run("merge laptop/vault")
        let merged = try vault(agent)
        #expect(merged != before)
        let again = MergeRequest(file, seen: merging)
        #expect(refusal(try client.send(.merge(place, again))) == .busy)
        #expect(try vault(agent) == merged)
    }

    @Test("only a file that the vault's key authenticates is merged")
    func forged() throws {
        let agent = try AgentFixture()
        try agent.shell(
            """
            cp \(AgentFixture.vault) former
            watchword init -q --vault other --scrypt-log-n 10 --passphrase-file pass.txt --no-recovery-key
            watchword rekey -q --passphrase-file pass.txt
            """)
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        let before = try vault(agent)
        func answer(_ file: [UInt8]) throws -> AgentResponse {
            try client.send(.merge(place, MergeRequest(file)))
        }
        guard case .otherKey = try answer(try agent.folder.bytes(of: "former")) else {
            Issue.record("the key is not the vault's")
            return
        }
        #expect(refusal(try answer(try agent.folder.bytes(of: "other"))) == .otherVault)
        #expect(refusal(try answer(Array("no vault\n".utf8))) == .notAVault)
        var damaged = before
        damaged[damaged.count - 3] ^= 1
        #expect(refusal(try answer(damaged)) == .copyDamaged(.checksum))
        // An attacker who changes the file can also correct its checksum.
        let text = String(decoding: before.dropLast(VaultEnvelope.lastLineCount), as: UTF8.self)
        let lines = text.split(separator: "\n").map { line in
            (line.hasPrefix("generation ") ? "generation 99" : line) + "\n"
        }
        let body = Array(lines.joined().utf8)
        let forged = body + VaultEnvelope.lastLine(for: body[...])
        #expect(refusal(try answer(forged)) == .copyDamaged(.header))
        #expect(try vault(agent) == before)
    }

    @Test("undoing a change of an entry's parameters requires the same proof as the change")
    func otherCodes() throws {
        let agent = try AgentFixture()
        try agent.run("edit -q Site:me --period 60 --passphrase-file pass.txt")
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        let plan = try plan(client, place)
        #expect(plan.map(\.changesCodesOfKey) == [true])
        #expect(refusal(try client.send(.undo(place, plan))) == .presenceNeeded)
        _ = try client.send(.prove(place, AgentFixture.opener, ceiling: 20))
        guard case .undone = try client.send(.undo(place, plan)) else {
            Issue.record("not undone")
            return
        }
        // Undoing again brings the change back.
        let screen = try agent.enteringPassphrase("undo --yes")
        #expect(screen.contains("changed back: Site:me (key or parameters)"))
        // A different key produces none of the codes of the former key.
        try agent.folder.write(Array("MFRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK\n".utf8), to: "new.txt")
        try agent.run("edit Site:me --secret-file new.txt")
        try agent.run("undo --yes")
    }

    @Test("an entry that was made to vanish returns with other codes only after the same proof")
    func vanished() throws {
        let agent = try AgentFixture(["Bank:me --type hotp --counter 5 --secret-file key.txt"])
        try agent.shell(
            """
            mkdir -m 700 laptop; cp -p \(AgentFixture.vault) laptop/vault
            watchword edit -q Bank:me --tag work --vault laptop/vault --passphrase-file pass.txt
            """)
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        let bank = try #require(agent.listing(client, of: place).entries.first).summary.id
        guard case .code = try client.send(.code(place, bank, .counter, .none)) else {
            Issue.record("no code")
            return
        }
        // The previous generation has the counter before that code, and so has the laptop's copy.
        try agent.forgeTombstone()
        let before = try vault(agent)
        let file = try agent.folder.bytes(of: "laptop/vault")
        let undoing = try plan(client, place)
        #expect(undoing.map(\.action) == [.restoredOlder(.counter)])
        let merging = try outline(client, place, MergeRequest(file)).changes
        #expect(merging.map(\.action) == [.restoredOlder(.counter)])
        for request in [
            AgentRequest.undo(place, undoing),
            .merge(place, MergeRequest(file, seen: merging)),
        ] {
            #expect(refusal(try client.send(request)) == .presenceNeeded)
        }
        #expect(try vault(agent) == before)
        _ = try client.send(.prove(place, AgentFixture.opener, ceiling: 20))
        guard case .undone = try client.send(.undo(place, undoing)) else {
            Issue.record("not undone")
            return
        }
        // The same holds for an entry that was removed here.
        try agent.run("remove -y Bank:me")
        let other = try agent.client()
        let adding = try outline(other, place, MergeRequest(file)).changes
        #expect(adding.map(\.action) == [.added])
        #expect(
            refusal(try other.send(.merge(place, MergeRequest(file, seen: adding))))
                == .presenceNeeded)
    }
}
