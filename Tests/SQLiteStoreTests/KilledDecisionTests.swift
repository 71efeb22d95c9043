import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Kills a deciding process at each system call, makes its system calls fail, and traces them.
@Suite(.enabled(if: Strace.canTrace, "strace is missing, or may not trace here"))
struct KilledDecisionTests {
    static let decisions = 2

    /// The system calls that change a database.
    static let writing = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "renameat"]

    @Test("killing the process at any write loses no acknowledged decision", arguments: writing)
    func killed(call: String) throws {
        let strace = try #require(Strace())
        var time = 0
        var answered: Set<Int> = []
        while true {
            time += 1
            let database = try TestDatabase.written(1)
            let run = try strace.run(
                database.command("decide", 1_000, Self.decisions), fault: "signal=KILL", at: call,
                time: "\(time)")
            let told = run.text.split(separator: "\n").filter { $0.hasPrefix("done ") }
            if run.status == 0 {
                #expect(told.count == Self.decisions)
                break
            }
            answered.insert(told.count)
            try expectWhole(database, atLeast: told.count, atMost: told.count + 1)
        }
        // Some of the calls are rare, but every decision writes pages of the log.
        if call == "pwrite64" { #expect(answered == [0, 1, 2]) }
        if call == "fdatasync" { #expect(answered.isSuperset(of: [0, 1])) }
    }

    @Test("a decision is reported only after the disk has confirmed its data")
    func confirmed() throws {
        let strace = try #require(Strace())
        let database = try TestDatabase.written(1)
        var isConfirmed = true
        var answers = 0
        for call in try strace.calls(of: database.command("decide", 1_000, Self.decisions)) {
            if call.hasPrefix("pwrite64(") { isConfirmed = false }
            if call.contains("fdatasync"), call.hasSuffix("= 0") { isConfirmed = true }
            if call.hasPrefix("write(1,") {
                #expect(isConfirmed, "\(call)")
                answers += 1
            }
        }
        #expect(answers == Self.decisions)
    }

    @Test(
        "a failed write is reported instead of acknowledged, and does not affect later writes",
        arguments: [
            ("pwrite64", "ENOSPC", "full"), ("pwrite64", "EFBIG", "unavailable"),
            ("pwrite64", "EIO", "unavailable"),
            ("fdatasync", "EIO", "unavailable"), ("fdatasync", "ENOSPC", "unavailable"),
        ])
    func failing(call: String, error: String, kind: String) throws {
        let strace = try #require(Strace())
        var failed = 0
        for time in 1...12 {
            let database = try TestDatabase.written(1)
            let run = try strace.run(
                database.command("decide", 1_000, Self.decisions), fault: "error=\(error)",
                at: call, time: "\(time)")
            let lines = run.text.split(separator: "\n")
            // The error may also have occurred during opening, which then fails, or during closing.
            if lines.first?.hasPrefix("refused") == true { continue }
            let failures = lines.filter { $0.hasPrefix("failure") }
            let done = lines.count - failures.count
            #expect(done == Self.decisions, "\(lines)")
            for line in failures { #expect(line.hasPrefix("failure \(kind) "), "\(line)") }
            // A write that the disk did not confirm may still be stored; all other decisions must
            // be complete.
            let unknown = call == "fdatasync" ? failures.count : 0
            try expectWhole(database, atLeast: done, atMost: done + unknown)
            failed += failures.count
        }
        #expect(failed > 0)
    }

    private func expectWhole(_ database: TestDatabase, atLeast: Int, atMost: Int) throws {
        let store = try database.open()
        let row = try #require(try store.credential(.sample(1_000)))
        let done = Int(row.version) - 1
        #expect((atLeast...atMost).contains(done), "\(done) of \(atLeast) to \(atMost)")
        // A row and its event are written together or not at all.
        #expect(try store.events(after: 0, limit: 100).count == done + 1)
        let report = try store.audit()
        #expect(report.findings == [])
        #expect(report.isSound)
    }
}
