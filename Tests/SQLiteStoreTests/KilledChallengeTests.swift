import StoreContract
import TestSupport
import Testing
import Verification

@testable import SQLiteStore

/// Kills a process that answers challenges at each system call that changes the database.
@Suite(.enabled(if: Strace.canTrace, "strace is missing, or may not trace here"))
struct KilledChallengeTests {
    private static let challenges = 2

    @Test(
        "a killed process spends a challenge together with its ticket and event, or not at all",
        arguments: ["pwrite64", "fdatasync"])
    func killed(call: String) throws {
        let strace = try #require(Strace())
        var time = 0
        var answered: Set<Int> = []
        while true {
            time += 1
            let database = try TestDatabase()
            let program = ForeignProgram(path: BuiltProgram.path("store-writer"))
            let made = try program.run(["ask", database.path, "0", "\(Self.challenges)"])
            try #require(made.text == "done 0\ndone 1\n")
            let run = try strace.run(
                [BuiltProgram.path("store-writer"), "answer", database.path, "0"]
                    + ["\(Self.challenges)"],
                fault: "signal=KILL", at: call, time: "\(time)")
            let told = run.text.split(separator: "\n").filter { $0.hasPrefix("done ") }.count
            try expectWhole(database, atLeast: told)
            guard run.status != 0 else {
                #expect(told == Self.challenges)
                break
            }
            answered.insert(told)
        }
        #expect(answered.isSuperset(of: [0, 1]))
    }

    private func expectWhole(_ database: TestDatabase, atLeast told: Int) throws {
        let store = try database.open()
        var spent = 0
        for number in 0..<Self.challenges {
            let digest = sampleBytes(number, count: 32)
            let isSpent = try store.challenge(digest: digest) == nil
            #expect(try (store.ticket(digest: digest) != nil) == isSpent)
            if isSpent { spent += 1 }
        }
        #expect((told...told + 1).contains(spent), "\(spent) spent, \(told) reported")
        #expect(try store.events(after: 0, limit: 100).count == spent)
        let report = try store.audit()
        #expect(report.findings == [])
        #expect(report.rows == [])
        #expect(report.isSound)
    }
}
