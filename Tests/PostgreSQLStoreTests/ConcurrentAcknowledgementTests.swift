import Foundation
import PostgreSQLServer
import StoreContract
import TestSupport
import Testing
import Verification

@testable import PostgreSQLStore

/// One connection gets an acknowledgement while another waits for an answer about the chains' ends.
///
/// The answer is outdated when it arrives, but no event is missing.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct ConcurrentAcknowledgementTests {
    /// The operation that asks for the chains' ends.
    enum Question: CaseIterable { case compare, lease }

    @Test("a chain end that was read before an acknowledgement is not reported as a rollback")
    func older() async throws {
        for question in Question.allCases { try await ask(question) }
    }

    private func ask(_ question: Question) async throws {
        let database = try TestDatabase()
        try database.open().close()
        let proxy = try FaultyProxy(to: database.server.port)
        let known = AcknowledgedCheckpoints()
        let key = database.keys.auditKey
        let writer = try BatchWriter(
            session(database.url, known), key: key, known: known)
        commit(1, by: writer)
        let asking = try session(proxy.url(for: database.url), known)
        // The database has responded, and the proxy holds the response back.
        proxy.arm(ProxyFault(.stall, at: .message(.dataRow, .none)))
        let answer = Task.detached { () -> StoreFailure? in
            do throws(StoreFailure) {
                switch question {
                case .compare: try known.compare(with: asking)
                case .lease: _ = try ChainLease(on: asking, key: key, known: known)
                }
                return nil
            } catch {
                return error
            }
        }
        try await onOwnThread { try proxy.awaitFault() }
        commit(2, by: writer)
        proxy.heal()
        #expect(await answer.value == nil, "\(question)")
        #expect(known.isSound, "\(question)")
    }

    private func session(
        _ url: String, _ known: AcknowledgedCheckpoints
    ) throws -> PostgreSQLSession {
        // The timeout is long enough for a machine that is busy with other tests.
        try PostgreSQLSession(
            PostgreSQLSession.Context(
                address: try #require(PostgreSQLAddress(url)), timeout: .seconds(200), known: known)
        )
    }

    private func commit(_ number: Int, by writer: BatchWriter) {
        let outcome = Mailbox()
        let changes = StoreKeys.known.auditKey.authenticating([.appendEvent(.sample(number))])
        let verdict = writer.commit([CommitJob(changes) { outcome.put($0) }])
        #expect(!verdict.isLost)
        #expect(outcome.taken == .success(.done))
    }
}

/// Holds a response that is available when the call returns.
private final class Mailbox: @unchecked Sendable {
    // `@unchecked Sendable` is safe: the commit answers on the calling thread.
    private(set) var taken: Result<CommitOutcome, StoreFailure>?
    func put(_ answer: Result<CommitOutcome, StoreFailure>) { taken = answer }
}
