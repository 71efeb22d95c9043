import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Kills, starves and watches a process that decides, call by call of the system.
@Suite(.enabled(if: Strace.canTrace, "strace is missing, or may not trace here"))
struct KilledDecisionTests {
    static let decisions = 2

    /// The calls by which a database changes.
    static let writing = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "renameat"]

    @Test("killed at any write, no answered decision is lost", arguments: writing)
    func killed(call: String) throws {
        let strace = try #require(Strace())
        var time = 0
        var answered: Set<Int> = []
        while true {
            time += 1
            let database = try prepared()
            let run = try strace.run(
                command(database), fault: "signal=KILL", at: call, time: "\(time)")
            let told = run.text.split(separator: "\n").filter { $0.hasPrefix("done ") }
            if run.status == 0 {
                #expect(told.count == Self.decisions)
                break
            }
            answered.insert(told.count)
            try expectWhole(database, atLeast: told.count, atMost: told.count + 1)
        }
        // Of some calls there are few; the log's pages are written in each decision.
        if call == "pwrite64" { #expect(answered == [0, 1, 2]) }
        if call == "fdatasync" { #expect(answered.isSuperset(of: [0, 1])) }
    }

    @Test("an answer leaves only when the disk has confirmed what it rests on")
    func confirmed() throws {
        let strace = try #require(Strace())
        let database = try prepared()
        var isConfirmed = true
        var answers = 0
        for call in try strace.calls(of: command(database)) {
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
        "when a write fails, it is told, nothing is accepted, and later ones are done",
        arguments: [
            ("pwrite64", "ENOSPC", "full"), ("pwrite64", "EFBIG", "unavailable"),
            ("pwrite64", "EIO", "unavailable"),
            ("fdatasync", "EIO", "unavailable"), ("fdatasync", "ENOSPC", "unavailable"),
        ])
    func failing(call: String, error: String, trouble: String) throws {
        let strace = try #require(Strace())
        var failed = 0
        for time in 1...12 {
            let database = try prepared()
            let run = try strace.run(
                command(database), fault: "error=\(error)", at: call, time: "\(time)")
            let lines = run.text.split(separator: "\n")
            // It may also have hit the opening, which is refused then, or the closing.
            if lines.first?.hasPrefix("refused") == true { continue }
            let failures = lines.filter { $0.hasPrefix("failure") }
            let done = lines.count - failures.count
            #expect(done == Self.decisions, "\(lines)")
            for line in failures { #expect(line.hasPrefix("failure \(trouble) "), "\(line)") }
            // What the disk did not confirm may be there all the same; nothing else may.
            let unknown = call == "fdatasync" ? failures.count : 0
            try expectWhole(database, atLeast: done, atMost: done + unknown)
            failed += failures.count
        }
        #expect(failed > 0)
    }

    private func prepared() throws -> TestDatabase {
        let database = try TestDatabase()
        let outcome = try ForeignProgram(path: BuiltProgram.path("store-writer"))
            .run(["write", database.path, "0", "1"])
        try #require(outcome.text == "done 0\n")
        return database
    }

    private func command(_ database: TestDatabase) -> [String] {
        [BuiltProgram.path("store-writer"), "decide", database.path, "1000"]
            + ["\(Self.decisions)"]
    }

    private func expectWhole(_ database: TestDatabase, atLeast: Int, atMost: Int) throws {
        let store = try database.open()
        let row = try #require(try store.credential(.sample(1_000)))
        let done = Int(row.version) - 1
        #expect((atLeast...atMost).contains(done), "\(done) of \(atLeast) to \(atMost)")
        // The row and its event came together or not at all.
        #expect(try store.events(after: 0, limit: 100).count == done + 1)
        let report = try store.audit()
        #expect(report.findings == [])
        #expect(report.isSound)
    }
}
