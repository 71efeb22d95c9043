import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Kills a process whose callers decide at the same time and share transactions, at each system
/// call.
@Suite(.enabled(if: Strace.canTrace, "strace is missing, or may not trace here"))
struct KilledGroupTests {
    static let callers = 12
    static let rounds = 2

    @Test(
        "no acknowledged decision of a group is lost if the process is killed at any write",
        arguments: KilledDecisionTests.writing + ["write"])
    func killed(call: String) throws {
        let strace = try #require(Strace())
        var database = try TestDatabase()
        var answers: Set<Int> = []
        let killed = try strace.killAtEach(call) {
            database = try TestDatabase.written(Self.callers)
            return database.command("together", 1_000, Self.callers)
        } check: { outcome in
            let told = try answered(outcome)
            answers.insert(told.values.reduce(0, +))
            try expectWhole(database, told)
        }
        #expect(answers.max() == Self.callers * Self.rounds)
        // Some of the calls are rare or do not occur while decisions are written.
        if call == "pwrite64" { #expect(killed > 20) }
        if call == "fdatasync" { #expect(killed > 2) }
        if ["pwrite64", "fdatasync", "write"].contains(call) { #expect(answers.count > 2) }
    }

    @Test("decisions of simultaneous callers share transactions")
    func shared() throws {
        let strace = try #require(Strace())
        let database = try TestDatabase.written(Self.callers)
        let calls = try strace.calls(of: database.command("together", 1_000, Self.callers))
        let answers = calls.filter { $0.hasPrefix("write(1,") }.count
        let flushes = calls.filter { $0.contains("fdatasync") }.count
        #expect(answers == Self.callers * Self.rounds)
        #expect(flushes < answers)
    }

    /// The number of acknowledged decisions for each row.
    private func answered(_ outcome: ForeignProgram.Outcome) throws -> [Int: Int] {
        var told: [Int: Int] = [:]
        for line in outcome.text.split(separator: "\n") {
            let words = line.split(separator: " ")
            try #require(words.count == 3 && words[0] == "done", "\(line)")
            told[try #require(Int(words[1])), default: 0] += 1
        }
        return told
    }

    private func expectWhole(_ database: TestDatabase, _ told: [Int: Int]) throws {
        let store = try database.open()
        var done = 0
        for number in 1_000..<(1_000 + Self.callers) {
            let row = try #require(try store.credential(.sample(number)))
            let moves = Int(row.version) - 1
            // At most one unacknowledged decision per row is stored: the one in progress.
            let answered = told[number] ?? 0
            #expect((answered...(answered + 1)).contains(moves), "\(moves) of \(answered)")
            done += moves
        }
        // Rows and their events are written together or not at all.
        #expect(try store.events(after: 0, limit: 1_000).count == Self.callers + done)
        let report = try store.audit()
        #expect(report.findings == [])
        #expect(report.isSound)
    }
}
