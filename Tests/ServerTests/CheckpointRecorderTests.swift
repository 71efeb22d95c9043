import Foundation
import PostgreSQLServer
import PostgreSQLStore
import Synchronization
import TestSupport
import Testing

@testable import ServerCommands

/// When the ends of the event chains are recorded, and which attacks this detects.
struct CheckpointRecorderTests {
    /// Counts the writes, and can block one.
    private final class Harness: Sendable {
        private let changed = NSCondition()
        private let content = Mutex<(written: Int, isHeld: Bool)>((0, false))

        var written: Int { content.withLock { $0.written } }

        func hold(_ isHeld: Bool) {
            changed.lock()
            content.withLock { $0.isHeld = isHeld }
            changed.broadcast()
            changed.unlock()
        }

        func write() {
            changed.lock()
            content.withLock { $0.written += 1 }
            changed.broadcast()
            while content.withLock({ $0.isHeld }) { changed.wait() }
            changed.unlock()
        }

        /// Waits, without a time limit, until this many writes have begun.
        func wait(for count: Int) {
            changed.lock()
            while written < count { changed.wait() }
            changed.unlock()
        }
    }

    /// A day, so that the interval never triggers a write.
    private static let never = Duration.seconds(86_400)

    @Test(
        "requesting a checkpoint does not block, and requests during a write cause one more write")
    func asking() throws {
        let harness = Harness()
        let keeper = try #require(CheckpointRecorder(every: Self.never) { harness.write() })
        harness.hold(true)
        keeper.ask()
        harness.wait(for: 1)
        for _ in 0..<100 { keeper.ask() }
        harness.hold(false)
        harness.wait(for: 2)
        keeper.stop()
        #expect(harness.written == 2)
    }

    @Test("checkpoints are written at regular intervals even if none is requested, until stop()")
    func fromTimeToTime() throws {
        let harness = Harness()
        let keeper = try #require(CheckpointRecorder(every: .milliseconds(1)) { harness.write() })
        harness.wait(for: 3)
        keeper.stop()
        let written = harness.written
        keeper.ask()
        #expect(harness.written == written)
    }

    @Test(
        "after a kill, a restarted server detects a database that lacks its last thousand events",
        .enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
    func killed() async throws {
        let (database, url) = try await onOwnThread {
            let server = try PostgreSQLServer.shared()
            return (server, try server.makeDatabase())
        }
        let state = try ServerProcess.State(store: url)
        let server = try await ServerProcess(state)
        let asker = try Asker(server.port, key: try await state.makeKey())
        let tables = ["events", "chains", "counter"]
        for table in tables {
            try database.query("CREATE TABLE kept_\(table) AS TABLE watchword.\(table)", in: url)
        }
        let file = CheckpointFile(path: state.keyFile + ".ends")
        let alice = try await EnrolledSubject("alice", asker)
        var asked = 0
        // Each request adds an event. The loop takes far less than a minute, the interval of the
        // regular writes.
        while try file.read().map(\.position).max() ?? 0 < CheckpointRecorder.events {
            asked += 1
            try #require(asked < 4 * CheckpointRecorder.events, "nothing is written")
            let renamed = try await asker.ask(
                "PATCH", "/v1/credentials/\(alice.credential)", #"{"name":"phone \#(asked)"}"#)
            #expect(renamed?.status == 204)
        }
        server.send(SIGKILL)
        #expect(try await server.ending() == -SIGKILL)
        try database.awaitNoClients(of: url)
        for table in tables {
            let values = table == "chains" ? "OVERRIDING SYSTEM VALUE" : ""
            try database.query(
                "DELETE FROM watchword.\(table); "
                    + "INSERT INTO watchword.\(table) \(values) TABLE kept_\(table)", in: url)
        }
        let restarted = try await state.run("serve", "--listen", "127.0.0.1:0")
        #expect(restarted.status == 3)
        #expect(String(decoding: restarted.errors, as: UTF8.self).contains("lacks events"))
    }
}
