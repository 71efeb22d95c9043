import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordSystem

/// The entries that the agent finds for a command.
@Suite(.serialized)
struct AgentSearchTests {
    private static let entries = [
        "Site:me --secret-file key.txt", "Site:you --secret-file key.txt",
        "Bank:ann --secret-file key.txt --tag work --note gate",
        "Count:me --type hotp --counter 7 --secret-file key.txt",
    ]
    private static let all = ["Site:me", "Site:you", "Bank:ann", "Count:me"]

    @Test("a search takes linear time, limits the number of words, and ends when it is cancelled")
    func linear() throws {
        let letters = ["a", "b"]
        var texts = [""]
        for _ in 1...6 { texts += texts.flatMap { text in letters.map { text + $0 } } }
        for text in Set(texts) {
            for part in Set(texts) where part.count < 5 {
                let isPart = part.isEmpty || text.contains(part)
                #expect(FoldedText(text).contains(FoldedWord(part)) == isPart)
            }
        }
        let start = Moment.now
        let text = FoldedText(String(repeating: "a", count: 16_000))
        let part = FoldedWord(String(repeating: "a", count: 8000) + "b")
        for _ in 1...10 { #expect(!text.contains(part)) }
        #expect(Moment.now < start + .seconds(10))
        let agent = try AgentFixture(Self.entries)
        try agent.run(AgentFixture.unlock)
        let entries = try agent.listing(agent.client(), of: agent.place()).entries.map(\.summary)
        #expect(entries.matches(of: "gate").count == 1)
        #expect(entries.matches(of: "gate") { false }.isEmpty)
        for (count, found) in [(32, 1), (33, 0)] {
            let words = [String](repeating: "gate", count: count).joined(separator: " ")
            #expect(entries.matches(of: words).count == found)
        }
    }

    @Test(
        "the agent sends the requested entries, or all if a name does not match exactly one entry")
    func found() throws {
        let agent = try AgentFixture(Self.entries)
        try agent.run(AgentFixture.unlock)
        let client = try agent.client()
        let place = try agent.place()
        func found(_ names: String...) throws -> [String] {
            guard case .listing(let listing) = try client.send(.find(place, names, nil)) else {
                throw AgentFailure.malformed
            }
            #expect(listing.uses.isEmpty)
            return listing.entries.map(\.summary.name.text)
        }
        #expect(try found("BANK") == ["Bank:ann"])
        #expect(try found("count", "you", "work gate") == ["Site:you", "Bank:ann", "Count:me"])
        #expect(try found("ann", "Bank:ann") == ["Bank:ann"])
        #expect(try found() == [])
        #expect(try found("Site") == Self.all)
        #expect(try found("Bank", "nobody") == Self.all)
        let other = try VaultPlace(at: agent.folder.file(AgentFixture.vault + "2"))
        guard case .notHeld = try client.send(.find(other, ["Bank"], nil)) else {
            Issue.record("another vault is searched")
            return
        }
    }

    @Test("with a single name, the agent also sends the code, unless it requires a check")
    func foundCode() throws {
        let agent = try AgentFixture(
            Self.entries + [
                "PerUse:me --presence per-use:passphrase --secret-file key.txt",
                "Plain:me --type secret --secret-file key.txt",
            ])
        try agent.run(AgentFixture.unlock)
        let client = try agent.client()
        let place = try agent.place()
        let time = CodeTime.moment(59, offset: 0, isRefresh: false)
        func code(_ names: String..., at time: CodeTime = time) throws -> String? {
            switch try client.send(.find(place, names, time)) {
            case .found(let listing, let code):
                #expect(listing.entries.map(\.summary.name.text) == ["Bank:ann"])
                return code.text
            case .listing: return nil
            default: throw AgentFailure.malformed
            }
        }
        #expect(try code("bank") == "287082")
        #expect(try code("bank", "you") == nil)
        #expect(try code("Site") == nil)
        #expect(try code("PerUse") == nil)
        #expect(try code("Plain") == nil)
        #expect(try code("bank", at: .counter) == nil)
        // The counter is not taken.
        #expect(try code("Count") == nil)
        #expect(try code("Count", at: .counter) == nil)
        #expect(try agent.listing(client, of: place).entries[3].counter == 7)
        // The use is recorded like that of any other code.
        let bank = try agent.listing(client, of: place).entries[2].summary.id
        #expect(try agent.listing(client, of: place).uses.map(\.id) == [bank])
        _ = try client.send(.lock(place))
        guard case .notHeld = try client.send(.find(place, ["bank"], time)) else {
            Issue.record("a locked vault is searched")
            return
        }
    }

    @Test("a request that repeats a name or an entry, as no command does, is refused")
    func repeated() throws {
        let agent = try AgentFixture(Self.entries)
        try agent.run(AgentFixture.unlock)
        let place = try agent.place()
        let id = try agent.listing(agent.client(), of: place).entries[0].summary.id
        let requests: [AgentRequest] = [
            .find(place, ["Bank", "Bank"], nil),
            .find(place, (1...17).map { "n\($0)" }, nil),
            .contents(place, [id, id], .none, isUse: false),
        ]
        for request in requests {
            let client = try agent.client()
            #expect(throws: AgentFailure.malformed) { try client.send(request) }
        }
        // A command sends each name only once.
        #expect(try agent.run("code Bank Bank --at 59").text == "287082  Bank:ann\n")
    }

    @Test("the agent does not search for more than sixteen names, or for very long ones")
    func manyNames() throws {
        let place = try VaultPlace(at: "/vault")
        func isSearch(_ names: [String]) -> Bool {
            if case .find = AgentRequest.entries(named: names, in: place) { true } else { false }
        }
        let names = (1...17).map { "n\($0)" }
        #expect(isSearch(Array(names[..<16])))
        #expect(!isSearch(names))
        #expect(isSearch(Array(names[..<16] + names[..<16])))
        #expect(isSearch([String(repeating: "é", count: 4096)]))
        #expect(!isSearch([String(repeating: "é", count: 4096) + "n"]))
    }

    @Test("a passphrase for a vault without one is refused, with the agent and without it")
    func noPassphrase() throws {
        let agent = try AgentFixture()
        try agent.shell(
            """
            umask 077; rm -r .local
            watchword init -q --scrypt-log-n 10 --passphrase-file pass.txt >recovery.txt
            watchword add -q Site:me --secret-file key.txt --passphrase-file pass.txt
            watchword slot remove passphrase --yes --recovery-key-file recovery.txt
            """)
        let reason =
            "watchword: the vault has no passphrase (opened by: recovery key (slot 2)); "
            + "run the command without a passphrase file\n"
        // No passphrase is tried, so nothing is counted: further failures would lock the vault out.
        for _ in 1...3 {
            for command in ["code Site --passphrase-file pass.txt", AgentFixture.unlock] {
                let outcome = try agent.run(command, status: 4)
                #expect(AgentFixture.errors(outcome) == reason)
            }
        }
        try agent.run("code Site --recovery-key-file recovery.txt")
    }
}
