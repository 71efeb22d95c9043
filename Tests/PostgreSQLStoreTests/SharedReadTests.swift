import PostgreSQLServer
import StoreContract
import Synchronization
import Testing
import Verification

@testable import PostgreSQLStore

/// Reads that one statement answers: each read gets the same rows as it would get alone.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct SharedReadTests {
    /// The results of several reads, by index.
    private final class Answers: Sendable {
        let found = Mutex<[Int: Result<[CredentialRow], StoreFailure>]>([:])

        func jobs(_ wanted: [(subject: String, limit: Int)]) -> [ReadJob] {
            wanted.enumerated().map { index, interest in
                ReadJob(
                    question: .alive(subject: Array(interest.subject.utf8), limit: interest.limit)
                ) {
                    answer in
                    let rows = Result { () throws(StoreFailure) -> [CredentialRow] in
                        try answer.get().all { row throws(StoreFailure) in
                            try row.row(StoreKeys.known.auditKey)
                        }
                    }
                    self.found.withLock { $0[index] = rows }
                }
            }
        }

        /// The numbers of the rows that each read returned.
        func rows(_ count: Int) -> [[CredentialRow]?] {
            found.withLock { found in (0..<count).map { try? found[$0]?.get() } }
        }
    }

    private static let rows: [CredentialRow] = [
        .sample(1, subject: "alice", createdAt: 3), .sample(2, subject: "alice", createdAt: 1),
        .sample(3, subject: "alice", createdAt: 2), .sample(4, subject: "bob"),
        .sample(5, subject: "carol", state: .revoked), .sample(6, subject: "carol"),
    ]
    private static let wanted: [(subject: String, limit: Int)] = [
        ("bob", 8), ("nobody", 8), ("alice", 8), ("carol", 8), ("alice", 2), ("bob", 8),
        ("no one", 8),
    ]
    private static let expected: [[CredentialRow]?] = [
        [rows[3]], [], [rows[1], rows[2], rows[0]], [rows[5]], [rows[1], rows[2]], [rows[3]], [],
    ]

    private func session(_ database: TestDatabase) async throws -> PostgreSQLSession {
        let store = try database.open()
        _ = try await store.commit(Self.rows.map { .insertCredential($0) })
        return try PostgreSQLSession(
            PostgreSQLSession.Context(
                address: try #require(PostgreSQLAddress(database.url)), timeout: .seconds(20)))
    }

    @Test(
        "reads that share a statement get their own rows, oldest first, up to their limits"
    )
    func together() async throws {
        let session = try await session(try TestDatabase())
        let answers = Answers()
        let jobs = answers.jobs(Self.wanted)
        #expect(ReadGroup.gather(jobs).count == 2)
        let verdict = session.read(jobs)
        #expect(verdict.again.isEmpty && !verdict.isLost)
        #expect(answers.rows(jobs.count) == Self.expected)
    }

    @Test("reads that fail together are repeated separately, once")
    func failing() async throws {
        let session = try await session(try TestDatabase())
        let answers = Answers()
        let jobs = answers.jobs(Self.wanted)
        _ = try session.run([.text("DEALLOCATE \"credentialsAliveOfEach\"")])
        let verdict = session.read(jobs)
        #expect(!verdict.isLost && verdict.again.count >= jobs.count - 1)
        #expect(
            ReadGroup.gather(verdict.again.filter(\.isRetry)).allSatisfy { $0.jobs.count == 1 })
        var left = verdict.again
        for _ in 0..<2 where !left.isEmpty { left = session.read(left).again }
        #expect(left.isEmpty)
        #expect(answers.rows(jobs.count) == Self.expected)
    }
}
