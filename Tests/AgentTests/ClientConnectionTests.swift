import SecretVault
import Synchronization
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

@testable import Agent

/// A client of an agent in this process.
struct ClientConnectionTests {
    private let opener = VaultOpener.passphrase(
        SecretBytes(copying: Array(AgentFixture.passphrase.utf8).span))

    /// An agent in this process, for one client, with a clock that the test sets.
    private final class OwnAgent {
        let fixture: AgentFixture
        let client: AgentClient
        let time: Clock

        final class Clock: Sendable {
            private let value = Mutex<Int64>(0)
            var now: Int64 {
                get { value.withLock { $0 } }
                set { value.withLock { $0 = newValue } }
            }
        }

        init(
            for place: VaultPlace, in fixture: AgentFixture, firstTimeout: Duration = .seconds(10)
        ) throws {
            self.fixture = fixture
            let (time, path) = (Clock(), fixture.folder.file("own.sock"))
            let listener = try LocalSocket.listen(at: path)
            client = AgentClient(FrameConnection(try LocalSocket.connect(to: path)))
            var service = try AgentServices(for: .folders([place.folder]))
            service.unixTime = { time.now }
            let connection = ClientConnection(
                FrameConnection(try LocalSocket.accept(from: listener)),
                Connections.Member(number: 1), service, firstTimeout: firstTimeout)
            self.time = time
            try #require(WorkerThread { connection.serve() }).detach()
        }
    }

    /// A vault with these entries, which an agent in this process holds.
    private func unlocked(
        _ entries: [String]
    ) throws -> (VaultPlace, OwnAgent, [EntrySummary]) {
        let fixture = try AgentFixture(entries)
        let place = try fixture.place()
        let own = try OwnAgent(for: place, in: fixture)
        let response = try own.client.send(.unlock(place, opener, ceiling: 20, .standard))
        var listing: VaultListing?
        if case .listing(let list) = response { listing = list }
        return (place, own, try #require(listing, "\(response)").entries.map(\.summary))
    }

    @Test("a list that shows an entry gets the next code when the next step begins")
    func steps() throws {
        let (place, own, entries) = try unlocked([
            "A:a --presence per-use:passphrase --secret-file key.txt"
        ])
        func code(
            _ moment: Int64, isRefresh: Bool = true, _ presence: AgentPresence = .none
        ) throws -> String {
            let time = CodeTime.moment(moment, offset: 0, isRefresh: isRefresh)
            let id = entries[0].id
            let response = try own.client.send(.code(place, id, time, presence))
            if case .code(let code) = response { return code.text }
            return "\(response)"
        }
        own.time.now = 59
        #expect(try code(59, isRefresh: false, .opener(opener)) == "287082")
        // The client reads its clock a moment before the agent does.
        own.time.now = 60
        #expect(try code(59) == "287082")
        #expect(try code(60) == "359152")
        own.time.now = 90
        #expect(try code(90) == "969429")
        #expect(try code(60) == "359152")
        #expect(try code(59) == "failed(SecretVault.VaultError.presenceNeeded)")
        // Another program changes the entry.
        try own.fixture.run("edit A --tag work --passphrase-file pass.txt")
        #expect(try code(90) == "failed(SecretVault.VaultError.presenceNeeded)")
    }

    @Test("a reused check is valid for one time step before and after the agent's time")
    func reuse() throws {
        let (place, own, entries) = try unlocked([
            "A:a --presence per-use:passphrase --reuse 300 --secret-file key.txt"
        ])
        let id = entries[0].id
        func isAnswered(_ request: AgentRequest) throws -> Bool {
            switch try own.client.send(request) {
            case .code, .match: return true
            case .failed(.presenceNeeded): return false
            case let other:
                Issue.record("\(other)")
                return false
            }
        }
        func code(
            _ moment: Int64, offset: UInt64 = 0, _ presence: AgentPresence = .none
        ) throws -> Bool {
            let time = CodeTime.moment(moment, offset: offset, isRefresh: false)
            return try isAnswered(.code(place, id, time, presence))
        }
        func match(_ moment: Int64, behind: Int = 1, ahead: Int = 1) throws -> Bool {
            let comparison = CodeComparison(
                code: "287082", moment: moment, behind: behind, ahead: ahead)
            return try isAnswered(.verify(place, id, comparison, .none))
        }
        own.time.now = 1000
        #expect(try code(59, offset: 7, .opener(opener)))
        #expect(
            try [959, 960, 1000, 1049, 1050].map { try code($0) } == [
                false, true, true, true, false,
            ])
        #expect(try [0, 1, 2].map { try code(1000, offset: $0) } == [true, true, false])
        #expect(try [989, 990, 1019, 1020].map { try match($0) } == [false, true, true, false])
        // The code before the previous one is never compared, whichever time and offset describe
        // it.
        #expect(try [959, 960, 989].map { try match($0, behind: 0) } == [false, true, true])
        #expect(try match(1030, behind: 2, ahead: 0))
        // The code after the next one is never returned, whichever time and offset describe it.
        #expect(try [0, 1].map { try code(1030, offset: $0) } == [true, false])
        #expect(try [0, 1].map { try match(1030, ahead: $0) } == [true, false])
        #expect(try !match(1000, behind: 2))
        #expect(try !match(1000, ahead: 2))
    }

    @Test("codes for future times require a proof on the same connection; past codes do not")
    func future() throws {
        let (place, own, entries) = try unlocked([
            "A:a --secret-file key.txt", "B:b --period 600 --secret-file key.txt",
        ])
        func isAnswered(
            _ moment: Int64, offset: UInt64 = 0, entry: Int = 0
        ) throws -> [Bool] {
            let id = entries[entry].id
            let name = entry == 0 ? "A" : "B"
            let time = CodeTime.moment(moment, offset: offset, isRefresh: false)
            let comparison = CodeComparison(
                code: "287082", moment: moment, behind: 0, ahead: Int(clamping: offset))
            var requests: [AgentRequest] = [
                .code(place, id, time, .none), .find(place, [name], time),
            ]
            if offset <= UInt64(CodeComparison.widest) {
                requests.append(.verify(place, id, comparison, .none))
            }
            return try requests.map { request in
                switch try own.client.send(request) {
                case .code, .found, .match: return true
                case .failed(.presenceNeeded), .listing: return false
                case let other:
                    Issue.record("\(other)")
                    return false
                }
            }
        }
        own.time.now = 1000
        let free: [(Int64, UInt64)] = [(59, 0), (1000, 1), (1000, 10), (1319, 0)]
        for (moment, offset) in free {
            #expect(try isAnswered(moment, offset: offset) == [true, true, true])
        }
        let checked: [(Int64, UInt64)] = [
            (1320, 0), (1319, 1), (1000, 11), (4_000_000_000, 0), (.max, 0), (59, 10_000),
        ]
        for (moment, offset) in checked {
            #expect(try isAnswered(moment, offset: offset) == [false, false, false])
        }
        #expect(try isAnswered(0, offset: .max) == [false, false])
        #expect(try isAnswered(1799, entry: 1) == [true, true, true])
        #expect(try isAnswered(1800, entry: 1) == [false, false, false])
        guard case .done = try own.client.send(.prove(place, opener, ceiling: 20)) else {
            Issue.record("not proved")
            return
        }
        // The code in a search result only saves a second request.
        #expect(try isAnswered(4_000_000_000) == [true, false, true])
    }

    @Test("the codes that a key produces change only after a proof on the same connection")
    func otherCodes() throws {
        let (place, own, entries) = try unlocked([
            "A:a --secret-file key.txt", "Count:me --type hotp --secret-file key.txt",
        ])
        func isChanged(
            _ entry: Int, period: Int64? = nil, counter: UInt64? = nil, secret: SecretBytes? = nil
        ) throws -> Bool {
            var revision = EntryRevision(of: entries[entry])
            revision.codes = CodeChange(period: period, counter: counter, secret: secret)
            switch try own.client.send(.edit(place, .revise(revision), .none)) {
            case .edited: return true
            case .failed(.presenceNeeded): return false
            case let other:
                Issue.record("\(other)")
                return false
            }
        }
        own.time.now = 1000
        // With period 1, codes of the far future would be those of 1970.
        #expect(try !isChanged(0, period: 1))
        #expect(try !isChanged(1, counter: 1000))
        // A different key produces no code of the former one.
        #expect(try isChanged(0, period: 60, secret: SecretBytes(text: "other")))
        guard case .done = try own.client.send(.prove(place, opener, ceiling: 20)) else {
            Issue.record("not proved")
            return
        }
        #expect(try isChanged(0, period: 1))
        #expect(try isChanged(1, counter: 1000))
    }

    @Test("more than ten codes ahead of a counter require a proof on the same connection")
    func counters() throws {
        let (place, own, entries) = try unlocked(["Count:me --type hotp --secret-file key.txt"])
        let id = entries[0].id
        // RFC 4226, appendix D: the code of counter 9.
        func match(ahead: Int) throws -> String {
            let comparison = CodeComparison(
                code: "520489", moment: nil, behind: 0, ahead: ahead)
            return "\(try own.client.send(.verify(place, id, comparison, .none)))"
        }
        let refused = "failed(SecretVault.VaultError.presenceNeeded)"
        #expect(try match(ahead: 10) == "match(Optional(9))")
        #expect(try match(ahead: 11) == refused)
        guard case .done = try own.client.send(.prove(place, opener, ceiling: 20)) else {
            Issue.record("not proved")
            return
        }
        #expect(try match(ahead: 10_000) == "match(Optional(9))")
    }

    @Test("a vault that was opened for one connection is locked when that connection ends")
    func openedOnce() throws {
        let agent = try AgentFixture()
        let place = try agent.place()
        let pair = try SocketPair()
        let end = try pair.second.duplicate()
        let client = AgentClient(FrameConnection(try pair.second.duplicate()))
        let vaults = HeldVaults(clock: AgentClock.now)
        let service = try AgentServices(holding: vaults, for: .folders([place.folder]))
        let connection = ClientConnection(
            FrameConnection(pair.takeFirst()), Connections.Member(number: 1), service)
        let worker = try #require(WorkerThread { connection.serve() })
        guard case .listing = try client.send(.open(place, opener, ceiling: 20)) else {
            Issue.record("not opened")
            return
        }
        #expect(vaults.isHeld(place.only(for: 1)))
        #expect(!vaults.isHeld(place))
        end.shutDown()
        worker.join()
        #expect(!vaults.isHeld(place.only(for: 1)))
    }

    @Test("locking a vault also locks it for connections that have opened it for themselves")
    func lockedForAll() throws {
        let agent = try AgentFixture()
        let place = try agent.place()
        let own = try OwnAgent(for: place, in: agent)
        for (answer, next) in [("done", "notHeld"), ("notHeld", "notHeld")] {
            if answer == "done" {
                guard case .listing = try own.client.send(.open(place, opener, ceiling: 20))
                else {
                    Issue.record("not opened")
                    return
                }
            }
            #expect("\(try own.client.send(.lock(place)))" == answer)
            #expect("\(try own.client.send(.list(place)))" == next)
        }
    }

    @Test("a connection without a request is closed after a timeout, and one with a request is not")
    func slowPrompt() throws {
        let agent = try AgentFixture()
        let place = try agent.place()
        let own = try OwnAgent(for: place, in: agent, firstTimeout: .seconds(1))
        #expect("\(try own.client.send(.list(place)))" == "notHeld")
        // This is longer than a client may wait before its first request.
        _ = try Polling.wait(for: [own.client.readable], timeout: .milliseconds(1500))
        let unlocked = try own.client.send(.unlock(place, opener, ceiling: 20, .standard))
        guard case .listing = unlocked else {
            Issue.record("\(unlocked)")
            return
        }
        try agent.shell("rm own.sock")
        let silent = try OwnAgent(for: place, in: agent, firstTimeout: .milliseconds(100))
        silent.client.waitForEnd()
        #expect(throws: AgentFailure.noResponse) { try silent.client.send(.status) }
        // Otherwise, a person could believe that the vault is locked.
        #expect(throws: AgentFailure.notLocked) { try silent.client.send(.lockAll) }
    }
}
