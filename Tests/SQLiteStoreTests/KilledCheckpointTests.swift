import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Kills or disturbs a process while a checkpoint runs in parallel with its decisions.
@Suite(.enabled(if: Strace.canTrace, "strace is missing, or may not trace here"))
struct KilledCheckpointTests {
    /// Enough decisions to write more pages than two checkpoint intervals.
    private static let decisions = 500

    @Test(
        "no acknowledged decision is lost if the process is killed during a checkpoint",
        arguments: [("pwrite64", 1), ("pwrite64", 7), ("pwrite64", 20), ("fdatasync", 1)])
    func killed(call: String, time: Int) throws {
        let strace = try #require(Strace())
        let database = try TestDatabase.written(1)
        let run = try strace.run(
            database.command("decide", 1_000, Self.decisions), fault: "signal=KILL", at: call,
            time: "\(time)", on: database.path)
        let told = run.text.split(separator: "\n").count { $0.hasPrefix("done ") }
        #expect(run.status != 0)
        #expect(told > 0 && told < Self.decisions)
        try expectWhole(database, (told...told + 1))
    }

    @Test(
        "the log is kept for the next start if the disk does not confirm a checkpoint")
    func unconfirmed() throws {
        let strace = try #require(Strace())
        let database = try TestDatabase.written(1)
        let run = try strace.run(
            database.command("decide", 1_000, Self.decisions), fault: "error=EIO", at: "fdatasync",
            time: "1", on: database.path)
        #expect(run.status == 0)
        #expect(run.text.split(separator: "\n").count { $0.hasPrefix("done ") } == Self.decisions)
        // The log contains its header and three pages per decision: the log was neither restarted
        // nor truncated.
        #expect(try database.folder.bytes(of: "verifier.db-wal").count > Schema.pageSize * 1_200)
        try expectWhole(database, Self.decisions...Self.decisions)
        #expect(throws: (any Error).self) { try database.folder.bytes(of: "verifier.db-wal") }
    }

    private func expectWhole(_ database: TestDatabase, _ done: ClosedRange<Int>) throws {
        let store = try database.open()
        let row = try #require(try store.credential(.sample(1_000)))
        #expect(done.contains(Int(row.version) - 1))
        #expect(try store.events(after: 0, limit: 1_000).count == Int(row.version))
        #expect(try store.audit().findings == [])
        store.close()
    }
}
