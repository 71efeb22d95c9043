import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import Exports

@Suite("Google Authenticator exports in several parts")
struct MigrationSetTests {
    @Test("parts may arrive in any order and are sorted")
    func anyOrder() throws {
        let orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 0, 2]]
        for order in orders {
            var collection = MigrationCollection()
            for index in order { #expect(collection.add(try part(index, of: 3)) == .added) }
            let set = try #require(collection.sets.first)
            #expect(collection.sets.count == 1)
            #expect(set.isComplete && set.missing.isEmpty)
            #expect(set.credentials.map(\.account) == ["0", "1", "2"])
        }
    }

    @Test("a missing part is reported")
    func missing() throws {
        var collection = MigrationCollection()
        collection.add(try part(3, of: 4))
        collection.add(try part(1, of: 4))
        let set = try #require(collection.sets.first)
        #expect(!set.isComplete)
        #expect(set.missing == [0, 2])
        #expect(set.credentials.map(\.account) == ["1", "3"])
    }

    @Test("a repeated part counts once")
    func repeated() throws {
        var collection = MigrationCollection()
        #expect(collection.add(try part(0, of: 2)) == .added)
        #expect(collection.add(try part(0, of: 2)) == .repeated)
        #expect(collection.sets.map(\.missing) == [[1]])
    }

    @Test("exports are distinguished by their identifier")
    func byNumber() throws {
        var collection = MigrationCollection()
        collection.add(try part(0, of: 2, id: 1))
        collection.add(try part(1, of: 2, id: 2))
        #expect(collection.sets.map(\.missing) == [[1], [0]])
        #expect(collection.sets.map(\.id) == [1, 2])
    }

    @Test("exports of version 2 are distinguished by size and index")
    func withoutNumber() throws {
        var collection = MigrationCollection()
        collection.add(try part(0, of: 2, id: 0, version: 2, account: "a"))
        collection.add(try part(0, of: 3, id: 0, version: 2, account: "b"))
        // The same index with other content cannot belong to the same export.
        collection.add(try part(0, of: 2, id: 0, version: 2, account: "c"))
        collection.add(try part(1, of: 2, id: 0, version: 2, account: "d"))
        #expect(collection.sets.map(\.size) == [2, 3, 2])
        #expect(collection.sets.map(\.missing) == [[], [1, 2], [1]])
    }

    @Test("parts that differ only in their refused entries belong to different exports")
    func refusals() throws {
        let reasons: [MigrationRefusal.Reason] = [.missingKey, .unknownType]
        let parts = try reasons.map { reason in
            let part = try part(0, of: 2, id: 0, version: 2)
            return MigrationBatch(
                version: 2, size: 2, index: 0, id: 0, credentials: part.credentials,
                refusals: [MigrationRefusal(entry: 1, reason: reason)], warnings: [])
        }
        var set = MigrationSet(parts[0])
        #expect(set.add(parts[0]) == .repeated)
        #expect(set.add(parts[1]) == .foreign)
        var collection = MigrationCollection()
        for part in parts + parts { collection.add(part) }
        #expect(collection.sets.count == 2)
    }

    @Test(
        "O-15 adding a part takes the same time however many exports there are",
        .timeLimit(.minutes(5)), arguments: [(Int32(0), 2), (Int32(1), 1)])
    func manyExports(number: Int32, version: Int) throws {
        // If each part were compared with every earlier export, this would take an hour.
        let count: Int32 = 30_000
        var collection = MigrationCollection()
        for index in 0..<count {
            let batch = try part(
                0, of: 1_000, id: number * index, version: version, account: "\(index)")
            #expect(collection.add(batch) == .added)
        }
        #expect(collection.sets.count == Int(count))
        // A part with another index is added to the first export that lacks this index.
        let last = try part(999, of: 1_000, id: 0, version: version, account: "last")
        #expect(collection.add(last) == .added)
        #expect(collection.add(last) == .repeated)
        #expect(collection.sets[0].missing == Array(1..<999))
        #expect(collection.sets.count == Int(count))
    }

    @Test("parts are sorted into the sets that a sequential search would find")
    func sorted() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var collection = MigrationCollection()
            var sets: [MigrationSet] = []
            for _ in 0..<20 {
                let batch = try part(
                    .random(in: 0..<3, using: &generator), of: 3, id: 0, version: 2,
                    account: "\(Int.random(in: 0..<3, using: &generator))")
                var expected = MigrationSet.Outcome.foreign
                for index in sets.indices where expected == .foreign {
                    expected = sets[index].add(batch)
                }
                if expected == .foreign {
                    sets.append(MigrationSet(batch))
                    expected = .added
                }
                #expect(collection.add(batch) == expected)
            }
            #expect(collection.sets.map(\.missing) == sets.map(\.missing))
            #expect(
                collection.sets.map { $0.credentials.map(\.account) }
                    == sets.map { $0.credentials.map(\.account) })
        }
    }

    private func part(
        _ index: Int, of size: Int, id: Int32 = 7, version: Int = 1, account: String? = nil
    ) throws -> MigrationBatch {
        let credential = try Credential(
            issuer: "", account: account ?? String(index), key: SecretBytes(text: "key"))
        return try #require(
            MigrationBatch(
                credentials: [credential], size: size, index: index, id: id, version: version))
    }
}
