import SQLiteStore
import StoreContract
import TestSupport
import Testing
import Verification

/// Several processes share one file; each decision happens once.
struct ProcessRaceTests {
    @Test("no update is lost when three processes advance one row")
    func counting() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.commit([.insertCredential(.sample(1))])
        let program = ForeignProgram(path: BuiltProgram.path("store-writer"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let outcome = try program.run(["decide", database.path, "1", "15"])
                    let lines = outcome.text.split(separator: "\n")
                    #expect(lines.allSatisfy { $0.hasPrefix("done ") }, "\(lines)")
                    #expect(lines.count == 15)
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.credential(.sample(1))?.version == 46)
        let numbers = try store.events(after: 0, limit: 100).compactMap { $0.event?.number }
        #expect(numbers == (2...46).map(Int64.init))
        #expect(try store.audit().findings == [])
    }

    @Test(
        "T-10 each ticket and challenge is spent by exactly one of three processes",
        arguments: ["spend", "answer"])
    func spending(verb: String) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for number in 0..<20 {
            _ = try await store.commit([
                verb == "spend" ? .insertTicket(.sample(number)) : .insertChallenge(.sample(number))
            ])
        }
        let program = ForeignProgram(path: BuiltProgram.path("store-writer"))
        let won = try await withThrowingTaskGroup(of: [Substring].self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try program.run([verb, database.path, "0", "20"]).text
                        .split(separator: "\n")
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(won.count == 60)
        #expect(
            won.filter { $0.hasPrefix("done ") }.sorted() == (0..<20).map { "done \($0)" }.sorted())
        #expect(won.allSatisfy { $0.hasPrefix("done ") || $0.hasPrefix("conflict ") })
        #expect(try store.events(after: 0, limit: 100).count == 20)
    }
}
