import Foundation
import HTTPListener
import SQLiteStore
import ServiceTranscripts
import StoreContract
import TestSupport
import Testing
import Verification
import VerificationService
import WatchwordCryptography

@testable import ServerCommands

/// Races over HTTP in which all requests have read before the first of them writes.
///
/// The order does not depend on the machine's load. Without the version condition in the store, all
/// requests would succeed.
struct BarrierRaceTests {
    /// A listener in this process, in front of a database.
    private final class Gathered: Sendable {
        let fixture: ServiceFixture
        let store: BarrierStore
        let listener: Listener
        let key: String
        private let folder: TemporaryFolder

        init() async throws {
            let folder = try TemporaryFolder()
            self.folder = folder
            var gathering: BarrierStore?
            fixture = try await ServiceFixture(wrapping: { _, keys in
                let store = BarrierStore(
                    try SQLiteVerificationStore(opening: folder.file("db"), key: keys.auditKey))
                gathering = store
                return store
            })
            store = try #require(gathering)
            key = try #require(fixture.keys["all"]).text
            fixture.clock.advance(
                seconds: Int64(Date.now.timeIntervalSince1970) - fixture.clock.now.seconds)
            let service = fixture.service
            listener = try Listener.start(
                on: ListenAddress(loopbackPort: 0),
                refuser: service.refuse, handler: service.respond)
        }

        /// A client with its own connection and the API key.
        func asker() throws -> Asker { try Asker(listener.address.port, key: key) }

        /// Sends this many requests at once, each over its own connection.
        func race(
            _ count: Int, _ question: @escaping @Sendable (Int) -> (target: String, body: String)
        ) async throws -> [RawConnection.Answer] {
            await store.gather(count, reading: .credential)
            return try await withThrowingTaskGroup(of: RawConnection.Answer?.self) { group in
                for index in 0..<count {
                    group.addTask {
                        let (target, body) = question(index)
                        return try await self.asker().ask("POST", target, body)
                    }
                }
                return try await group.reduce(into: []) { if let answer = $1 { $0.append(answer) } }
            }
        }

        func stop() async { #expect(await listener.stop(grace: .seconds(60))) }
    }

    @Test("T-10 V-18 of a hundred racing requests with one code, one is accepted")
    func oneCode() async throws {
        let gathered = try await Gathered()
        let alice = try await EnrolledSubject("alice", gathered.asker())
        let code = alice.code()
        let answers = try await gathered.race(100) { _ in
            ("/v1/verifications", #"{"subject":"alice","code":"\#(code)"}"#)
        }
        #expect(answers.count { $0.texts["result"] == "accepted" } == 1)
        #expect(answers.count { $0.texts["reason"] == "replayed" } == 99)
        await gathered.stop()
    }

    @Test(
        "H-12 of sixty racing requests with wrong codes, only those before the first wait are checked"
    )
    func wrongCodes() async throws {
        let gathered = try await Gathered()
        let alice = try await EnrolledSubject("alice", gathered.asker())
        let wrong = alice.wrongCodes(60)
        let answers = try await gathered.race(60) { index in
            ("/v1/verifications", #"{"subject":"alice","code":"\#(wrong[index])"}"#)
        }
        let checked = Policy.standard.firstFailureWithWait
        #expect(answers.count { $0.texts["reason"] == "wrong" } == checked)
        #expect(answers.count { $0.texts["reason"] == "throttled" } == 60 - checked)
        await gathered.stop()
    }

    @Test(
        "N-34 N-18 R-07 of twenty racing requests with one ticket, or one secret, at most one succeeds"
    )
    func tickets() async throws {
        let gathered = try await Gathered()
        let enrolment = try await gathered.asker().ask(
            "POST", "/v1/subjects/carol/credentials", #"{"type":"secret"}"#)
        let ticket = try #require(enrolment?.texts["ticket"])
        let made = try await gathered.race(20) { _ in
            ("/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#)
        }.filter { $0.status == 201 }
        #expect(made.count == 1)
        let device = try #require(made.first?.texts)
        let credential = try #require(device["credential"])
        let secret = try #require(device["secret"])
        let logins = try await gathered.race(20) { index in
            let nonce = String("ABCDEFGHIJKLMNOPQRST".dropFirst(index).prefix(1))
            return (
                "/v1/device/logins",
                #"{"credential":"\#(credential)","secret":"\#(secret)","#
                    + #""rotation_nonce":"\#(nonce)AAAAAAAAAAAAAAAAAAAAA"}"#
            )
        }
        #expect(logins.count { $0.texts["result"] == "accepted" } == 1)
        #expect(logins.count { $0.texts["wipe_reason"] == "reuse-detected" } == 19)
        await gathered.stop()
    }
}
