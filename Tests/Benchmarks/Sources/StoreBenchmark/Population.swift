import Foundation
import OneTimePassword
import Verification
import WatchwordCryptography

/// Credentials with known keys, so that each has a correct code at any time.
struct Population: Sendable {
    /// The number of credentials; their subjects are `subject-0` and so on, or begin with a
    /// different ``prefix``.
    let count: Int
    var prefix = "subject-"

    /// When the credentials were enrolled.
    static let start: Int64 = 1_790_000_010
    static let period: Int64 = 30
    func subject(_ number: Int) throws -> Subject {
        guard let subject = Subject("\(prefix)\(number)") else { throw BenchmarkError.refused }
        return subject
    }

    /// The key of a credential: arbitrary bytes, different for each credential.
    func key(_ number: Int) -> SecretBytes {
        SecretBytes(copying: Array("key of credential \(number + 1_000_000_000)".utf8).span)
    }

    func code(_ number: Int, at seconds: Int64) -> String {
        let code = CodeGenerator.code(
            at: UInt64(seconds / Self.period), key: key(number), algorithm: .sha1,
            style: .decimal(.six))
        return code.text
    }

    /// Enrols and confirms all credentials.
    func fill(_ store: any VerificationStore, keys: KeyRing, batch: Int = 480) async throws {
        try await store.fill(count, keys: keys, batch: batch) { number, verifier in
            let interest = try OneTimePasswordEnrolment(
                issuer: "Mill", account: "\(number)", key: key(number))
            let outcome = try await verifier.enrolOneTimePassword(interest, for: subject(number))
            guard case .granted(let grant) = outcome else { throw BenchmarkError.refused }
            let code = try PresentedCode(code(number, at: Self.start).utf8.span)
            let confirmation = try await verifier.confirm(grant.credential, code: code)
            guard case .accepted = confirmation.result else { throw BenchmarkError.refused }
            return grant.credential
        }
    }
}

extension VerificationStore {
    // Small, because a store in memory copies itself at each commit.
    private static var share: Int { 4 }

    /// Inserts `count` credentials that `enrol` enrols, each by its number.
    ///
    /// They are enrolled in memory, because a million enrolments in the store would take an hour.
    /// The resulting rows are the same.
    ///
    /// - Parameter batch: the number of rows per commit. Rows are sorted by id, so that a large
    ///   batch writes each page of the store's trees once; a batch that is too large exceeds the
    ///   timeout.
    func fill(
        _ count: Int, keys: KeyRing, batch: Int,
        _ enrol: @escaping @Sendable (Int, Verifier) async throws -> CredentialID
    ) async throws {
        let next = Turn()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while true {
                        let first = next.take(batch)
                        guard first < count else { return }
                        let end = min(first + batch, count)
                        var rows: [CredentialRow] = []
                        for start in stride(from: first, to: end, by: Self.share) {
                            let some = start..<min(start + Self.share, end)
                            rows += try await Self.rows(some, keys, enrol)
                        }
                        rows.sort { $0.id < $1.id }
                        let outcome = try await commit(rows.map { .insertCredential($0) })
                        guard outcome == .done else { throw BenchmarkError.refused }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func rows(
        _ numbers: Range<Int>, _ keys: KeyRing,
        _ enrol: (Int, Verifier) async throws -> CredentialID
    ) async throws -> [CredentialRow] {
        let memory = MemoryStore(node: [UInt8](repeating: 1, count: 16), key: keys.auditKey)
        let verifier = Verifier(store: memory, keys: keys) { UnixTime(seconds: Population.start) }
        var rows: [CredentialRow] = []
        for number in numbers {
            guard let row = await memory.credential(try await enrol(number, verifier)) else {
                throw BenchmarkError.refused
            }
            rows.append(row)
        }
        return rows
    }
}

enum BenchmarkError: Error {
    case usage, refused, wrongAnswer
}
