import Cryptography
import Foundation
import SecretVault
import TestSupport
import Testing
import VaultAgent

/// Reusing a check, with the real programs.
struct AgentReuseTests {
    private static let question = "To show the code of A:a, enter the passphrase again: "

    /// An agent that holds a vault with two entries whose checks may be reused.
    private func unlocked() throws -> AgentFixture {
        let agent = try AgentFixture([
            "A:a --presence per-use:passphrase --reuse 300 --secret-file key.txt",
            "B:b --presence per-use:passphrase --reuse 300 --secret-file key.txt",
        ])
        try agent.run(AgentFixture.unlock)
        return agent
    }

    private func check(_ agent: AgentFixture) throws {
        _ = try agent.answering(Self.question, AgentFixture.passphrase, "code A --at 59")
    }

    @Test("a check stays valid for codes of its entry, but not to show or change the entry")
    func uses() throws {
        let agent = try unlocked()
        // Unlocking is no check.
        try agent.run("code A --at 59", status: 4)
        try check(agent)
        #expect(try agent.run("code A --at 59").text == "287082\n")
        #expect(try agent.run("verify 287082 A --at 59").text == "0\n")
        for command in [
            "code B --at 59", "show A --uri --yes", "export --yes --only A",
            "edit A --presence per-unlock", "edit A --reuse 0", "watch A",
            // Without the agent, no check is reused.
            "code A --at 59 --no-agent",
        ] {
            let refused = try agent.shell("watchword \(command) >/dev/null || echo refused")
            #expect(refused.text == "refused\n", "\(command)")
        }
        #expect(try agent.run("code A --at 59").text == "287082\n")
        // After a lock, or a change of the entry, each use requires a check again.
        try agent.run("lock")
        try agent.run(AgentFixture.unlock)
        try agent.run("code A --at 59", status: 4)
        try check(agent)
        try agent.run("edit A --tag work")
        try agent.run("code A --at 59", status: 4)
    }

    @Test("a failure ends the reuse, whichever process counted it")
    func failure() throws {
        let agent = try unlocked()
        try check(agent)
        try agent.run("code A --at 59")
        // The second entry asks again, in a process of its own.
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
        try agent.run("code A --at 59", status: 4)
        try check(agent)
        try agent.run("code A --at 59")
    }

    @Test("a client that claims an earlier check gets nothing without one")
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
        let weaker = EntryRevision(
            of: entry, issuer: nil, account: nil, details: DetailsChange(),
            codes: CodeChange(algorithm: nil, length: nil, period: nil, counter: nil),
            access: AccessControlChange(presence: .perUnlock, onFailure: nil))
        let opener = VaultOpener.passphrase(SecretBytes(text: AgentFixture.passphrase))
        _ = try client.send(.prove(place, opener, ceiling: 20))
        for request in [
            .edit(place, .revise(weaker), .none), .confirm(place, entry.id, .none),
            .contents(place, [entry.id], .none, isUse: false),
        ] as [AgentRequest] {
            let response = try client.send(request)
            #expect("\(response)" == "failed(SecretVault.VaultError.presenceNeeded)")
        }
        // For a code, it counts.
        try agent.run("code A --at 59")
    }
}
