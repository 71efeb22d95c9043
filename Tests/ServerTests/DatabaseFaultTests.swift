import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

/// Servers with one PostgreSQL database that is killed, restarted, replaced or cut off under load.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"), .serialized)
struct DatabaseFaultTests {
    @Test(
        "T-10 no code is accepted twice by two servers if the database is killed under load and restarted"
    )
    func restarted() async throws {
        let database = try await onOwnThread { try PostgreSQLServer.start() }
        let load = try await ServerLoad(store: onOwnThread { try database.makeDatabase() })
        try await load.run {
            load.admit(20)
            try await load.awaitAccepted(8)
            try await onOwnThread { try database.kill9() }
            load.admit(26)
            try await load.awaitRefused(12)
            #expect(try await load.readiness() == [503, 503])
            try await onOwnThread { try database.launch() }
            try await load.awaitAccepted(16)
            load.admit(40)
            try await onOwnThread { try database.restart() }
        }
        try await load.expectSpent()
        #expect(try await load.readiness() == [200, 200])
        try await load.stop()
    }

    @Test(
        "T-10 no code is accepted twice if a server is killed with SIGKILL under load and restarted"
    )
    func killed() async throws {
        let database = try await onOwnThread { try PostgreSQLServer.shared() }
        let load = try await ServerLoad(store: onOwnThread { try database.makeDatabase() })
        try await load.run {
            for index in 0..<2 {
                load.admit(16 * (index + 1))
                try await load.awaitAccepted(4 * (index + 1))
                try await load.killAndStart(index)
            }
        }
        try await load.expectSpent()
        try await load.stop()
    }

    @Test(
        "servers continue without a restart when a synchronous standby replaces the primary under load"
    )
    func replaced() async throws {
        let primary = try await onOwnThread { try PostgreSQLServer.start() }
        let url = try await onOwnThread { try primary.makeDatabase() }
        let standby = try await onOwnThread { try primary.addStandby(isSynchronous: true) }
        let name = String(url.split(separator: "/").last ?? "")
        let load = try await ServerLoad(
            store: PostgreSQLServer.url(name, of: [primary, standby]))
        try await load.run {
            load.admit(20)
            try await load.awaitAccepted(8)
            try await onOwnThread { try primary.kill9() }
            load.admit(26)
            try await load.awaitRefused(12)
            try await onOwnThread { try standby.promote() }
        }
        try await load.expectSpent()
        // The audit uses only the promoted database.
        let audit = try await load.state.run(
            "audit", "verify", environment: ["WATCHWORD_STORE": standby.url(name)])
        #expect(audit.status == 0)
        try await load.stop()
    }

    @Test("T-10 a standby that lacks an accepted code is not used until restore has run")
    func lost() async throws {
        let primary = try await onOwnThread { try PostgreSQLServer.start() }
        let url = try await onOwnThread { try primary.makeDatabase() }
        let standby = try await onOwnThread { try primary.addStandby(isSynchronous: false) }
        let name = String(url.split(separator: "/").last ?? "")
        let state = try ServerProcess.State(
            store: PostgreSQLServer.url(name, of: [primary, standby]))
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker, period: 120)
        try await onOwnThread {
            try standby.awaitReplay(of: primary.query("SELECT pg_current_wal_lsn()"))
            try primary.withholdReplication()
        }
        #expect(try await asker.verify("alice", alice.code())?.texts["result"] == "accepted")
        try await onOwnThread {
            try primary.kill9()
            try standby.promote()
        }
        // This error shows that the server has found the new primary.
        let end = ContinuousClock.now + .seconds(60)
        while try !server.logged().contains("behind") {
            try #require(ContinuousClock.now < end, "the server does not notice the missing events")
            #expect(try await asker.verify("alice", alice.code())?.status == 503)
        }
        #expect(try await asker.verify("alice", alice.code())?.status == 503)
        #expect(try await Asker(server.operationsPort).ask("GET", "/readyz")?.status == 503)
        try await server.stop()
        // After a further restart, the server still refuses the database.
        #expect(try await state.run("serve", "--listen", "127.0.0.1:0").status == 3)
        #expect(try await state.run("restore", "--clock-is-right", "--keep-clients").status == 0)
        let again = try await ServerProcess(state)
        let answer = try await Asker(again.port, key: key).verify("alice", alice.code())
        #expect(answer?.texts["result"] == "denied")
        #expect(try await state.run("audit", "verify").status == 0)
        try await again.stop()
    }

    @Test("V-31 a stalled database causes 503 and never an acceptance, and the server recovers")
    func silent() async throws {
        let database = try await onOwnThread { try PostgreSQLServer.shared() }
        let proxy = try FaultyProxy(to: database.port)
        let url = try await onOwnThread { try database.makeDatabase() }
        let state = try ServerProcess.State(store: proxy.url(for: url))
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker, period: 120)
        for kind in [proxy.refuse, proxy.stall] {
            kind()
            let answer = try await asker.verify("alice", alice.code())
            #expect(answer?.status == 503, "\(answer?.text ?? "")")
            #expect(answer?.headers["retry-after"] != nil)
            #expect(answer?.headers["content-type"] == "application/problem+json")
            proxy.heal()
            try await server.awaitReady()
            // A ready server can read, but its connection for commits may not be open yet.
            let end = ContinuousClock.now + .seconds(60)
            let wrong = alice.wrongCodes(1)[0]
            var other = try await asker.verify("alice", wrong)
            while other?.status == 503, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(20))
                other = try await asker.verify("alice", wrong)
            }
            let log = try server.logged()
            #expect(other?.texts["reason"] == "wrong", "\(other?.text ?? "")\n\(log)")
        }
        let right = try await asker.verify("alice", alice.code())
        let again = try await asker.verify("alice", alice.code())
        let log = try server.logged()
        #expect(right?.texts["result"] == "accepted", "\(right?.text ?? "")\n\(log)")
        #expect(again?.texts["reason"] == "replayed", "\(again?.text ?? "")\n\(log)")
        try await server.stop()
    }
}

/// Two servers with one database, and subjects whose codes are sent to both until one answers.
final class ServerLoad: Sendable {
    private static let subjects = 40

    let state: ServerProcess.State
    private let key: String
    private let subjects: [EnrolledSubject]
    private let content: Mutex<Content>

    private struct Content {
        var servers: [ServerProcess]
        var accepted: [String: Int] = [:]
        var refused = 0
        /// The number of subjects that may send their codes.
        var admitted = 0
    }

    init(store: String) async throws {
        state = try ServerProcess.State(store: store)
        let servers = [try await ServerProcess(state), try await ServerProcess(state)]
        content = Mutex(Content(servers: servers))
        let key = try await state.makeKey()
        self.key = key
        let asker = try Asker(servers[0].port, key: key)
        var made: [EnrolledSubject] = []
        for index in 0..<Self.subjects {
            made.append(try await EnrolledSubject("s\(index)", asker, period: 120))
        }
        subjects = made
    }

    /// Sends every subject's code to both servers while `kind` runs, which decides how many
    /// subjects may begin.
    func run(during kind: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, subject) in subjects.enumerated() {
                for index in 0..<2 {
                    group.addTask { try await self.show(subject, number, to: index) }
                }
            }
            defer { admit(Self.subjects) }
            try await kind()
            admit(Self.subjects)
            try await group.waitForAll()
        }
    }

    /// Lets this many subjects, in total, send their codes.
    func admit(_ count: Int) { content.withLock { $0.admitted = max($0.admitted, count) } }

    /// Waits until this many codes, in total, were accepted.
    func awaitAccepted(_ count: Int) async throws {
        try await wait { $0.accepted.values.reduce(0, +) >= count }
    }

    /// Waits until this many more requests were refused because the database was unavailable.
    func awaitRefused(_ count: Int) async throws {
        let before = content.withLock { $0.refused }
        try await wait { $0.refused >= before + count }
    }

    /// Kills a server and starts a new one in its place.
    func killAndStart(_ index: Int) async throws {
        let server = content.withLock { $0.servers[index] }
        server.send(SIGKILL)
        #expect(try await server.ending() == -SIGKILL)
        let started = try await ServerProcess(state)
        content.withLock { $0.servers[index] = started }
    }

    /// The readiness responses of the servers.
    func readiness() async throws -> [Int?] {
        var answers: [Int?] = []
        for server in content.withLock({ $0.servers }) {
            answers.append(try await Asker(server.operationsPort).ask("GET", "/readyz")?.status)
        }
        return answers
    }

    /// Checks that every code was accepted at most once, and that both servers regard it as spent.
    func expectSpent() async throws {
        let accepted = content.withLock { $0.accepted }
        #expect(accepted.values.allSatisfy { $0 == 1 }, "\(accepted)")
        for subject in subjects {
            for server in content.withLock({ $0.servers }) {
                let answer = try await Asker(server.port, key: key)
                    .verify(subject.name, subject.code())
                #expect(answer?.texts["reason"] == "replayed", "\(answer?.text ?? "")")
            }
        }
        #expect(try await state.run("audit", "verify").status == 0)
    }

    func stop() async throws {
        for server in content.withLock({ $0.servers }) { #expect(try await server.stop() == 0) }
    }

    private func show(_ subject: EnrolledSubject, _ number: Int, to index: Int) async throws {
        while true {
            let (server, isAdmitted) = content.withLock { content in
                (content.servers[index], number < content.admitted)
            }
            guard isAdmitted else {
                try await Task.sleep(for: .milliseconds(5))
                continue
            }
            // A killed server does not answer; send the code again.
            let answer = try? await Asker(server.port, key: key)
                .verify(subject.name, subject.code())
            switch (answer?.status, answer?.texts["result"]) {
            case (200, "accepted"):
                content.withLock { $0.accepted[subject.name, default: 0] += 1 }
                return
            case (200, "denied"):
                #expect(answer?.texts["reason"] == "replayed", "\(answer?.text ?? "")")
                return
            case (503, _):
                #expect(answer?.headers["retry-after"] != nil)
                content.withLock { $0.refused += 1 }
            case (nil, _): break
            default: Issue.record("\(answer?.text ?? "")")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func wait(until condition: (Content) -> Bool) async throws {
        // Not a performance requirement: this only ends a test that would otherwise hang.
        let end = ContinuousClock.now + .seconds(60)
        while !content.withLock({ condition($0) }) {
            try #require(ContinuousClock.now < end, "\(content.withLock { $0.accepted.count })")
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
