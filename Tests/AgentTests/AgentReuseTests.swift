import Foundation
import OneTimePassword
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// Reuse of a check, with the real programs.
struct AgentReuseTests {
    private static let question = "To show the code of A:a, enter the passphrase again: "

    /// An agent that holds a vault with entries whose checks may be reused.
    private func unlocked() throws -> AgentFixture {
        let access = "--presence per-use:passphrase --reuse 300 --secret-file key.txt"
        let agent = try AgentFixture([
            "A:a \(access)", "B:b \(access)", "C:c --type hotp \(access)",
        ])
        try agent.run(AgentFixture.unlock)
        return agent
    }

    private func check(_ agent: AgentFixture) throws {
        _ = try agent.answering(Self.question, AgentFixture.passphrase, "code A --at 59")
    }

    /// Whether `text` is the current code of the first entry.
    private func isCurrent(_ text: String, since start: Int64) throws -> Bool {
        let key = SecretBytes(text: "12345678901234567890")
        let credential = try Credential(
            issuer: "A", account: "a", key: key, movingFactor: .time(.standard))
        let first = try credential.step(atUnixTime: start)
        let last = try credential.step(atUnixTime: SystemClock.unixTime())
        return (first...last).contains { credential.generator().code(at: $0).text + "\n" == text }
    }

    @Test("a check stays valid for codes of its entry, but not to show or change the entry")
    func uses() throws {
        let agent = try unlocked()
        // Unlocking does not count as a check.
        try agent.run("code A", status: 4)
        try check(agent)
        let start = SystemClock.unixTime()
        let code = try agent.run("code A").text
        #expect(try isCurrent(code, since: start))
        try agent.run("verify \(code.trimmingCharacters(in: .newlines)) A")
        for command in [
            "code B", "show A --uri --yes", "export --yes --only A",
            "edit A --presence per-unlock", "edit A --reuse 0", "watch A",
            // Without the agent, no check is reused.
            "code A --no-agent",
        ] {
            let refused = try agent.shell("watchword \(command) >/dev/null || echo refused")
            #expect(refused.text == "refused\n", "\(command)")
        }
        try agent.run("code A")
        // After a lock, or a change of the entry, each use requires a check again.
        try agent.run("lock")
        try agent.run(AgentFixture.unlock)
        try agent.run("code A", status: 4)
        try check(agent)
        try agent.run("edit A --tag work")
        try agent.run("code A", status: 4)
    }

    @Test("a reused check gives current codes only, on every connection")
    func currentOnly() throws {
        let agent = try unlocked()
        try check(agent)
        _ = try agent.answering(
            "To show the code of C:c, enter the passphrase again: ", AgentFixture.passphrase,
            "code C")
        for command in [
            "code A --at 59", "code A --at 4000000000", "code A B --at 4000000000", "code C",
            "verify 287082 A --at 59", "verify 287082 A --window 10000,10000",
            "verify 287082 A --window 0,2", "verify 755224 C",
        ] {
            #expect(try agent.run(command, status: 4).text == "", "\(command)")
        }
        let (client, place) = (try agent.client(), try agent.place())
        let entry = try #require(try agent.listing(client, of: place).entries.first).summary
        let now = SystemClock.unixTime()
        for (moment, offset) in [
            (now, 2), (now, 1 << 40), (now, .max), (now + 3600, 0), (.max, 1), (.min, 1),
        ] as [(Int64, UInt64)] {
            for isRefresh in [false, true] {
                let time = CodeTime.moment(moment, offset: offset, isRefresh: isRefresh)
                let response = try client.send(.code(place, entry.id, time, .none))
                #expect("\(response)" == "failed(SecretVault.VaultError.presenceNeeded)")
            }
        }
        guard
            case .code = try client.send(
                .code(place, entry.id, .moment(now, offset: 1, isRefresh: false), .none))
        else {
            Issue.record("no current code")
            return
        }
        // None of this ends the reuse.
        try agent.run("code A")
    }

    @Test("a failure ends the reuse, whichever process counted it")
    func failure() throws {
        let agent = try unlocked()
        try check(agent)
        try agent.run("code A")
        // The second entry requires its own check, in a separate process.
        let terminal = try agent.terminal("code B A --no-agent")
        try terminal.waitFor("assphrase: ")
        terminal.clear()
        try terminal.type(AgentFixture.passphrase + "\n")
        try terminal.waitFor("again: ")
        terminal.clear()
        try terminal.type("guess\n")
        try terminal.waitFor("again: ")
        try terminal.type("\u{4}")
        #expect(try terminal.end() == 4)
        try agent.run("code A", status: 4)
        try check(agent)
        try agent.run("code A")
    }

    @Test("a client that claims an earlier check gets no code unless there was one")
    func hostile() throws {
        let agent = try unlocked()
        let (client, place) = (try agent.client(), try agent.place())
        let entry = try #require(try agent.listing(client, of: place).entries.first).summary
        for _ in 0..<3 {
            for isRefresh in [false, true] {
                let time = CodeTime.moment(59, offset: 0, isRefresh: isRefresh)
                let response = try client.send(.code(place, entry.id, time, .none))
                #expect("\(response)" == "failed(SecretVault.VaultError.presenceNeeded)")
            }
        }
    }

    @Test("a client cannot use an earlier check to change an entry or to get its secret")
    func hostileEdit() throws {
        let agent = try unlocked()
        try check(agent)
        let (client, place) = (try agent.client(), try agent.place())
        let entry = try #require(try agent.listing(client, of: place).entries.first).summary
        let weaker = EntryRevision.withoutChecks(of: entry)
        let opener = AgentFixture.opener
        _ = try client.send(.prove(place, opener, ceiling: 20))
        for request in [
            .edit(place, .revise(weaker), .none), .confirm(place, entry.id, .none),
            .contents(place, [entry.id], .none, isUse: false),
        ] as [AgentRequest] {
            let response = try client.send(request)
            #expect("\(response)" == "failed(SecretVault.VaultError.presenceNeeded)")
        }
        // For a code, the earlier check counts.
        try agent.run("code A")
    }
}
