import Cryptography
import POSIX
import SecretVault
import Synchronization
import TestSupport
import Testing
import VaultAgent

@testable import AgentService

/// One client of an agent in this process.
struct ClientConnectionTests {
    private let opener = VaultOpener.passphrase(
        SecretBytes(copying: Array(AgentFixture.passphrase.utf8).span))

    /// An agent in this process, for one client, with a clock that the test sets.
    private final class OwnAgent {
        let client: AgentClient
        let time: Clock

        final class Clock: Sendable {
            private let value = Mutex<Int64>(0)
            var now: Int64 {
                get { value.withLock { $0 } }
                set { value.withLock { $0 = newValue } }
            }
        }

        init(for place: VaultPlace, _ folder: TemporaryFolder) throws {
            let (time, path) = (Clock(), folder.file("own.sock"))
            let listener = try LocalSocket.listen(at: path)
            client = AgentClient(FrameConnection(try LocalSocket.connect(to: path)))
            let service = AgentServices(
                vaults: HeldVaults(clock: AgentClock.now), reach: .folders([place.folder]),
                limitsFiles: false, helpers: HelperChannel(try SocketPair().takeFirst()),
                stop: try WakeSignal(), unixTime: { time.now })
            let connection = ClientConnection(
                FrameConnection(try LocalSocket.accept(from: listener)), number: 1, service,
                firstTimeout: .milliseconds(100)
            ) { _ in }
            self.time = time
            try #require(WorkerThread { connection.serve() }).detach()
        }
    }

    @Test("a list that shows an entry gets the next code when the next step begins")
    func steps() throws {
        let agent = try AgentFixture([
            "A:a --presence per-use:passphrase --secret-file key.txt"
        ])
        let place = try agent.place()
        let own = try OwnAgent(for: place, agent.folder)
        let unlocked = try own.client.send(.unlock(place, opener, ceiling: 20, .standard))
        guard case .listing(let listing) = unlocked else {
            Issue.record("\(unlocked)")
            return
        }
        func code(
            _ moment: Int64, isRefresh: Bool = true, _ presence: AgentPresence = .none
        ) throws -> String {
            let time = CodeTime.moment(moment, offset: 0, isRefresh: isRefresh)
            let id = listing.entries[0].summary.id
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
    }

    @Test("a vault that was opened for one connection is locked when that connection ends")
    func openedOnce() throws {
        let agent = try AgentFixture()
        let place = try agent.place()
        let pair = try SocketPair()
        let end = try pair.second.duplicate()
        let client = AgentClient(FrameConnection(try pair.second.duplicate()))
        let vaults = HeldVaults(clock: AgentClock.now)
        let service = AgentServices(
            vaults: vaults, reach: .folders([place.folder]), limitsFiles: false,
            helpers: HelperChannel(try SocketPair().takeFirst()), stop: try WakeSignal())
        let connection = ClientConnection(
            FrameConnection(pair.takeFirst()), number: 1, service
        ) { _ in }
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

    @Test("a connection without a request is closed after a timeout, and one with a request is not")
    func slowPrompt() throws {
        let agent = try AgentFixture()
        let place = try agent.place()
        let own = try OwnAgent(for: place, agent.folder)
        #expect("\(try own.client.send(.list(place)))" == "notHeld")
        // Longer than a client may wait before its first request.
        _ = try Polling.wait(for: [own.client.readable], timeout: .milliseconds(300))
        let unlocked = try own.client.send(.unlock(place, opener, ceiling: 20, .standard))
        guard case .listing = unlocked else {
            Issue.record("\(unlocked)")
            return
        }
        try agent.shell("rm own.sock")
        let silent = try OwnAgent(for: place, agent.folder)
        silent.client.waitForEnd()
        #expect(throws: AgentFailure.noAnswer) { try silent.client.send(.status) }
    }
}
