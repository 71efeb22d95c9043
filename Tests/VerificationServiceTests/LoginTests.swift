import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

@Suite("Logins on this machine")
struct LoginTests {
    private static let alice = "unix:mill.example:alice"

    /// Sends a request to a socket; the result is the response in words, or `nil` without a
    /// response.
    private func ask(
        _ fixture: ServiceFixture, _ message: LoginMessage, on socket: LoginSocket = .pam,
        user: UInt32 = 0
    ) async -> String? {
        let request = message.bytes
        let response = await fixture.service.respond(
            toLogin: SecretBytes(copying: request.span), on: socket, of: user)
        return response.flatMap { LoginAnswer($0) }.map { "\($0)" }
    }

    /// Verifies a code on the socket for root's programs.
    private func verify(
        _ fixture: ServiceFixture, _ code: String, of user: String = "alice",
        wantingReasons: Bool = false
    ) async -> String? {
        await ask(
            fixture, LoginMessage(verifying: code, of: user, wantingReasons: wantingReasons))
    }

    /// Verifies a code on the socket for a user's own programs, as user 1000.
    private func verifyOwn(
        _ fixture: ServiceFixture, _ code: String, of user: String = "alice"
    ) async -> String? {
        await ask(
            fixture, LoginMessage(verifying: code, of: user, wantingReasons: true), on: .own,
            user: 1_000)
    }

    private func metrics(_ fixture: ServiceFixture) async -> [Substring] {
        let reply = await fixture.service.respondToOperator(
            HTTPRequest(
                method: "GET", target: "/metrics", body: SecretBytes(text: ""), peer: "::1"))
        return reply.body.text.split(separator: "\n")
    }

    @Test(
        "V-06 a code is accepted once, and a wrong code, a spent code and an unknown user look alike"
    )
    func once() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled(Self.alice)
        let code = try fixture.code(of: alice)
        #expect(await verify(fixture, code) == "accepted")
        #expect(await verify(fixture, code) == "denied")
        #expect(await verify(fixture, code, wantingReasons: true) == "denied, replayed")
        for reasons in [false, true] {
            let wrong = try fixture.wrongCode(of: alice)
            let start = fixture.store.commits
            #expect(await verify(fixture, wrong, wantingReasons: reasons) == "denied")
            let next = fixture.store.commits
            #expect(await verify(fixture, wrong, of: "bob", wantingReasons: reasons) == "denied")
            // Both wait for the disk.
            #expect(next == start + 1 && fixture.store.commits == next + 1)
        }
    }

    @Test("an account maps only to the subject of its realm")
    func realm() async throws {
        let fixture = try await ServiceFixture()
        let names = ["alice", "unix:other:alice", Self.alice]
        var credentials: [EnrolledCredential] = []
        for name in names { credentials.append(try await fixture.enrolled(name)) }
        for credential in credentials {
            let isOwn = credential.subject == Self.alice
            let code = try fixture.code(of: credential)
            #expect(await verify(fixture, code) == (isOwn ? "accepted" : "denied"))
        }
    }

    @Test("a code that is presented on the socket and over HTTP at the same time is accepted once")
    func race() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled(Self.alice)
        for _ in 0..<10 {
            let code = try fixture.code(of: alice)
            let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        number.isMultiple(of: 2)
                            ? await verify(fixture, code) == "accepted"
                            : try await fixture.verify(Self.alice, code).result == "accepted"
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(accepted == 1)
            fixture.clock.advance(seconds: 30)
        }
    }

    @Test("a recovery code works in the same field, once")
    func recoveryCode() async throws {
        let fixture = try await ServiceFixture()
        let reply = try await fixture.ask(
            "POST", "/v1/subjects/\(Self.alice)/credentials", #"{"type":"recovery"}"#)
        let codes = reply.json?["codes"]?.elements?.compactMap(\.string) ?? []
        try #require(codes.count == 10)
        #expect(await verify(fixture, codes[0]) == "accepted")
        #expect(await verify(fixture, codes[0], wantingReasons: true) == "denied, replayed")
        #expect(await verify(fixture, codes[1].lowercased()) == "accepted")
    }

    @Test("V-06 text that is not a code costs as much as a code, and does not count as a failure")
    func malformedCode() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled(Self.alice)
        let commits = fixture.store.commits
        for text in [
            "12345", "hunter2", "123456789", String(repeating: "1", count: 64), "\u{FF11}",
            "123456 ", "123\t456",
        ] {
            #expect(await verify(fixture, text) == "denied", "\(text)")
            #expect(await verify(fixture, text, wantingReasons: true) == "denied, malformed")
        }
        // Each attempt wrote a dummy row, like the attempts of unknown users.
        #expect(fixture.store.commits == commits + 14)
        let code = try fixture.code(of: alice)
        #expect(await verify(fixture, "\(code.prefix(3)) - \(code.dropFirst(3))") == "accepted")
    }

    @Test(
        "only root's programs that ask for reasons learn of waits and disabled credentials")
    func reasons() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled(Self.alice)
        let wrong = try fixture.wrongCode(of: alice)
        for _ in 0..<Policy.standard.firstFailureWithWait { _ = await verify(fixture, wrong) }
        let code = try fixture.code(of: alice)
        #expect(await verify(fixture, code) == "denied")
        #expect(await verify(fixture, code, wantingReasons: true) == "denied, must wait 30")
        #expect(await verifyOwn(fixture, code) == "denied")
        let id = try #require(CredentialID(text: alice.id))
        let row = try #require(try await fixture.store.credential(id))
        var record = try CredentialRecord(row)
        record.end(as: .disabled, because: .tooManyFailures, at: fixture.clock.now)
        #expect(try await fixture.store.commit([.updateCredential(record.row)]) == .done)
        #expect(await verify(fixture, code, wantingReasons: true) == "denied, locked")
        #expect(await verifyOwn(fixture, code) == "denied")
    }

    @Test("a user's own programs may ask about that user only")
    func ownName() async throws {
        let fixture = try await ServiceFixture()
        let bob = try await fixture.enrolled("unix:mill.example:bob")
        let code = try fixture.code(of: bob)
        #expect(await verifyOwn(fixture, code, of: "bob") == "denied")
        let status = LoginMessage(statusOf: "bob")
        #expect(await ask(fixture, status, on: .own, user: 1_000) == "unavailable")
        // The user ID 2,000 has no account, and the code is bob's.
        let message = LoginMessage(verifying: code, of: "bob")
        for _ in 0..<70 {
            // Users without an account cannot fill a limit.
            #expect(await ask(fixture, message, on: .own, user: 2_000) == "denied")
        }
        #expect(await ask(fixture, status, on: .own, user: 1_001) == "enrolled")
        #expect(await ask(fixture, message, on: .own, user: 1_001) == "accepted")
    }

    @Test("a user's programs have three attempts, and one more each minute; successes do not count")
    func ownLimit() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled(Self.alice)
        for _ in 0..<10 {
            #expect(await verifyOwn(fixture, try fixture.code(of: alice)) == "accepted")
            fixture.clock.advance(seconds: 30)
        }
        let wrong = try fixture.wrongCode(of: alice)
        // A request without a check does not count as an attempt.
        for _ in 0..<3 {
            #expect(await verifyOwn(fixture, "1") == "denied")
            #expect(await verifyOwn(fixture, wrong, of: "bob") == "denied")
        }
        for _ in 0..<3 { #expect(await verifyOwn(fixture, wrong) == "denied") }
        let code = try fixture.code(of: alice)
        #expect(await verifyOwn(fixture, code) == "unavailable")
        // The limit applies only to attempts on this socket, and the attempts do not lock the user
        // out.
        let status = LoginMessage(statusOf: "alice")
        #expect(await ask(fixture, status, on: .own, user: 1_000) == "enrolled")
        #expect(await verify(fixture, code) == "accepted")
        fixture.clock.advance(seconds: 60)
        #expect(await verifyOwn(fixture, try fixture.code(of: alice)) == "accepted")
    }

    @Test("all requests of a user's programs are limited")
    func ownRequests() async throws {
        let fixture = try await ServiceFixture()
        let status = LoginMessage(statusOf: "alice")
        for _ in 0..<60 {
            #expect(await ask(fixture, status, on: .own, user: 1_000) == "never enrolled")
        }
        #expect(await ask(fixture, status, on: .own, user: 1_000) == "unavailable")
        #expect(await ask(fixture, LoginMessage(statusOf: "bob"), on: .own, user: 1_001) != nil)
        fixture.clock.advance(seconds: 1)
        #expect(await ask(fixture, status, on: .own, user: 1_000) == "never enrolled")
    }

    @Test("the status lists users who never had a confirmed credential")
    func status() async throws {
        let fixture = try await ServiceFixture()
        func status() async -> String? { await ask(fixture, LoginMessage(statusOf: "alice")) }
        #expect(await status() == "never enrolled")
        let pending = try await fixture.pending(Self.alice)
        #expect(await status() == "never enrolled")
        try await fixture.ask("DELETE", "/v1/credentials/\(pending.id)")
        #expect(await status() == "never enrolled")
        let enrolled = try await fixture.enrolled(Self.alice)
        #expect(await status() == "enrolled")
        try await fixture.ask("DELETE", "/v1/credentials/\(enrolled.id)")
        #expect(await status() == "enrolled")
        // The number of later revoked enrolments has no effect.
        for _ in 0..<120 {
            let other = try await fixture.pending(Self.alice)
            try await fixture.ask("DELETE", "/v1/credentials/\(other.id)")
        }
        #expect(await status() == "enrolled")
        let code = try fixture.code(of: enrolled)
        #expect(await verify(fixture, code) == "denied")
    }

    @Test("a name that is not UTF-8 belongs to nobody")
    func notUTF8() async throws {
        let fixture = try await ServiceFixture()
        var message = LoginMessage(verifying: "123456", of: "alice")
        message.user = [0xFF]
        #expect(await ask(fixture, message) == "denied")
        message = LoginMessage(statusOf: "alice")
        message.user = [0xFF]
        #expect(await ask(fixture, message) == "unavailable")
    }

    @Test("a malformed request gets no response")
    func malformed() async throws {
        let fixture = try await ServiceFixture()
        var message = LoginMessage(verifying: "123456", of: "alice")
        message.operation = 3
        #expect(await ask(fixture, message) == nil)
        #expect(fixture.log.last?.status == 400 && fixture.log.last?.outcome == "malformed-request")
    }

    @Test(
        "V-31 if the store fails, nothing is accepted, and the code stays valid",
        arguments: [FailingStore.Fault.reads, .commits])
    func storeFailure(_ fault: FailingStore.Fault) async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled(Self.alice)
        let code = try fixture.code(of: alice)
        fixture.store.fail(fault)
        #expect(await verify(fixture, code) == "unavailable")
        #expect(fixture.log.last?.status == 503)
        #expect(fixture.log.last?.cause == "store-unavailable TEST")
        if fault == .reads {
            #expect(await ask(fixture, LoginMessage(statusOf: "alice")) == "unavailable")
        }
        fixture.store.fail(nil)
        #expect(await verify(fixture, code) == "accepted")
    }

    @Test("events contain the service and the remote host, which only root's programs can specify")
    func origins() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled(Self.alice)
        #expect(await verify(fixture, try fixture.code(of: alice)) == "accepted")
        fixture.clock.advance(seconds: 30)
        #expect(await verifyOwn(fixture, try fixture.code(of: alice)) == "accepted")
        let events = try await fixture.verifier.events(after: 0, limit: 100)
            .compactMap(\.event).filter { $0.kind == .accepted }
        #expect(events.map(\.origin.address) == ["192.0.2.1", ""])
        #expect(events.map(\.origin.userAgent) == ["pam/sshd", "self/sshd"])
        #expect(events.allSatisfy { $0.subject?.text == Self.alice && $0.origin.client == nil })
    }

    @Test("requests are logged and counted like those over HTTP")
    func records() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled(Self.alice)
        _ = await verify(fixture, try fixture.code(of: alice))
        let line = try #require(fixture.log.last)
        #expect(line.method == "local" && line.route == "pam" && line.status == 200)
        #expect(line.outcome == "accepted" && line.address == "192.0.2.1" && line.client == nil)
        #expect(line.requestID.hasPrefix("rq_"))
        _ = await verify(fixture, try fixture.wrongCode(of: alice))
        #expect(fixture.log.last?.outcome == "wrong")
        let count = fixture.log.count
        // Anyone can cause these denials, so they are logged once.
        for _ in 0..<70 { _ = await verifyOwn(fixture, "1", of: "bob") }
        #expect(fixture.log.count == count + 2)
        #expect(fixture.log.suffix(2).map(\.outcome) == ["foreign-name", "too-many-requests"])
        let metrics = await metrics(fixture)
        for (operation, outcome) in [
            ("pam", "accepted"), ("pam", "wrong"), ("self", "foreign-name"),
        ] {
            let labels = #"{operation="\#(operation)",status="200",outcome="\#(outcome)"}"#
            #expect(metrics.contains { $0.hasPrefix("watchword_requests_total\(labels)") })
        }
        #expect(metrics.contains("watchword_denied_subjects 1"))
    }
}
