import Foundation
import SecretVault
import Synchronization
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

@testable import Agent

/// The end of the agent, and its behaviour when resources run out.
@Suite(.serialized)
struct AgentEndTests {
    private static let run = "run/watchword"

    /// Waits until a process has ended.
    private func waitForEnd(of process: Int32, in agent: AgentFixture) throws {
        try agent.shell("timeout 60 sh -c 'while [ -d /proc/\(process) ]; do sleep 0.1; done'")
    }

    @Test("an agent ends if clients cannot find its socket or a second agent could start")
    func displaced() throws {
        let changes = [
            "rm \(Self.run)/agent.lock", "rm \(Self.run)/agent.sock",
            "mv \(Self.run) run/other", "rm -r run",
            "mv \(Self.run)/agent.lock \(Self.run)/old; touch \(Self.run)/agent.lock",
        ]
        var agents: [(AgentFixture, Int32)] = []
        for change in changes {
            let agent = try AgentFixture()
            try agent.run(AgentFixture.unlock)
            let holder = try agent.keyHolder()
            try agent.shell(change)
            agents.append((agent, holder))
        }
        for (agent, holder) in agents { try waitForEnd(of: holder, in: agent) }
    }

    @Test("the vaults are locked when the supervisor is suspended, but not before")
    func stoppedSupervisor() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        // Longer than the supervisor may be silent.
        try agent.shell("sleep 35")
        // A client that sends no request for this time loses its connection.
        let (client, place) = (try agent.client(), try agent.place())
        #expect(try agent.listing(client, of: place).entries.count == 1)
        let supervisor = try agent.supervisor()
        try agent.shell("kill -STOP \(supervisor)")
        defer { do { try agent.shell("kill -CONT \(supervisor)") } catch {} }
        let end = Moment.now + .seconds(60)
        while end.timeRemaining > .zero {
            if case .notHeld = try client.send(.list(place)) { return }
            _ = try Polling.wait(for: [], timeout: .seconds(1))
        }
        Issue.record("not locked")
    }

    @Test("an agent that ends does not remove its successor's socket")
    func successor() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let first = try agent.keyHolder()
        try agent.shell("rm \(Self.run)/agent.lock \(Self.run)/agent.sock")
        try agent.run(AgentFixture.unlock)
        #expect(try agent.keyHolder() != first)
        try waitForEnd(of: first, in: agent)
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("an agent that is stopped still answers the requests that have begun")
    func stopDuringSave() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        let id = try agent.listing(client, of: place).entries[0].summary.id
        let holder = try agent.keyHolder()
        // A save must wait for this lock.
        let own = try Folder(
            opening: agent.folder.file(".local/share/watchword/.watchword/by-name/vault"))
        let response = Mutex<String?>(nil)
        var worker: WorkerThread?
        do {
            let lock = try FileLock("lock", in: own, timeout: .seconds(10))
            let connection = Connection(client)
            worker = WorkerThread {
                let text = connection.response(to: .edit(place, .remove(id, purge: false), .none))
                response.withLock { $0 = text }
            }
            // The request has begun when the agent has opened the lock's file.
            try agent.shell(
                """
                timeout 60 sh -c 'until ls -l /proc/\(holder)/fd | grep -q by-name/vault/lock; do :; done'
                """)
            guard case .done = try agent.client().send(.stop) else {
                Issue.record("the agent was not stopped")
                return
            }
            withExtendedLifetime(lock) {}
        }
        worker?.join()
        // The change is saved only if it gets the lock before the vaults are closed, and answered
        // only if it ends before the agent stops waiting.
        let answer = try #require(response.withLock { $0 })
        #expect(["notHeld", "edited(removed)", "noResponse"].contains(answer), "\(answer)")
        try agent.shell("timeout 60 sh -c 'while [ -e \(Self.run)/agent.sock ]; do :; done'")
    }

    /// A connection that a different thread uses.
    private final class Connection: @unchecked Sendable {
        // `@unchecked Sendable`: only one thread uses it.
        private let client: AgentClient
        init(_ client: AgentClient) { self.client = client }
        func response(to request: AgentRequest) -> String {
            do { return "\(try client.send(request))" } catch { return "\(error)" }
        }
    }

    @Test("an agent without free descriptors locks its vaults, then serves waiting clients")
    func descriptors() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let holder = try agent.keyHolder()
        try agent.shell("prlimit --pid \(holder) --nofile=8:")
        let waiting = try agent.client()
        func processorTime() throws -> Int {
            let fields = try agent.shell("cut -d ' ' -f 14,15 /proc/\(holder)/stat").text
            return fields.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
                .reduce(0, +)
        }
        let before = try processorTime()
        _ = try Polling.wait(for: [waiting.readable], timeout: .seconds(1))
        // In hundredths of a second.
        #expect(try processorTime() - before < 10)
        try agent.shell("prlimit --pid \(holder) --nofile=1024:")
        #expect(try vaultCount(waiting) == 0)
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("an agent that cannot start a thread locks its vaults, and reports this")
    func noThreads() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let holder = try agent.keyHolder()
        // The limit leaves room for data, but not for thread stacks.
        let size = "$(($(awk '/^VmSize/ {print $2}' /proc/\(holder)/status) * 1024 + 1048576))"
        try agent.shell("prlimit --pid \(holder) --as=\(size):")
        var clients: [AgentClient] = []
        // The first threads get the stacks of threads that have ended.
        repeat { clients.append(try agent.client()) } while try vaultCount(clients.last) > 0
        #expect(clients.count < Connections.limitPerUser)
        try agent.shell("prlimit --pid \(holder) --as=unlimited:")
        try agent.run("code Site --at 59", status: 4)
    }

    /// The number of vaults that the agent holds.
    private func vaultCount(_ client: AgentClient?) throws -> Int {
        guard case .status(let status) = try #require(client).send(.status) else { return -1 }
        return status.vaults.count
    }

    @Test("a folder for sockets that others can open or own is reported only if it matters")
    func folders() throws {
        let agent = try AgentFixture()
        try agent.shell("chmod 755 run")
        #expect(try agent.run("agent status").text == "The agent is not running.\n")
        let exposed = try agent.run(AgentFixture.unlock, status: 3)
        #expect(AgentFixture.errors(exposed).contains("run chmod 700 on it"))
        guard geteuid() == 0 else { return }
        try agent.shell("mkdir -m 700 run/watchword; chown 12345 run")
        for verb in ["agent status", AgentFixture.unlock] {
            let foreign = try agent.run(verb, status: 3)
            #expect(AgentFixture.errors(foreign).contains("belongs to another user"))
        }
        // After `su`, the variable contains a folder that this user cannot open.
        try agent.shell("chown 0 run; chmod 700 run; chmod 711 .")
        let other = "setpriv --reuid 12345 --clear-groups watchword"
        #expect(try agent.shell("\(other) agent status").text == "The agent is not running.\n")
    }

    @Test("unlock and status report that the agent was started for more than the vault's folder")
    func wideAgent() throws {
        let agent = try AgentFixture()
        // Another vault is in a parent folder.
        try agent.shell("cp -p \(AgentFixture.vault) wide")
        try agent.run("unlock --vault wide --passphrase-file pass.txt")
        let warned = try agent.run(AgentFixture.unlock)
        let folder = agent.folder.path
        #expect(
            AgentFixture.errors(warned).contains(
                "warning: the running agent was started for \(folder), which contains"))
        #expect(
            try agent.run("agent status --json").text.contains("\"folders\":[\"\(folder)\""))
        try agent.run("agent stop")
        #expect(try !AgentFixture.errors(agent.run(AgentFixture.unlock)).contains("warning"))
    }
}
