import JSONText
import Cryptography
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import VerificationService

/// The ways in which a code can be presented: all of them, with the same attacks.
enum VerifyRoute: CaseIterable {
    case bySubject, byCredential, withReasons, confirmation, resynchronization

    /// Presents a code; whether it was accepted.
    func accepts(
        _ code: String, of alice: EnrolledCredential, in world: ServiceWorld
    ) async throws -> Bool {
        let reply: Reply
        switch self {
        case .bySubject: reply = try await world.verify(alice.subject, code, as: "verify")
        case .withReasons: reply = try await world.verify(alice.subject, code, as: "all")
        case .byCredential:
            reply = try await world.ask(
                "POST", "/v1/verifications",
                #"{"subject":"\#(alice.subject)","code":"\#(code)","credential":"\#(alice.id)"}"#)
        case .confirmation:
            reply = try await world.ask(
                "POST", "/v1/credentials/\(alice.id)/confirm", #"{"code":"\#(code)"}"#)
        case .resynchronization:
            reply = try await world.ask(
                "POST", "/v1/credentials/\(alice.id)/resync",
                #"{"codes":["\#(code)","\#(code)"]}"#)
        }
        return reply.result == "accepted"
    }
}

struct AttackTests {
    @Test("V-04 a spent code is refused on every route, T-10", arguments: VerifyRoute.allCases)
    func replay(_ route: VerifyRoute) async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let code = try world.code(of: alice)
        #expect(try await world.verify("alice", code).result == "accepted")
        #expect(try await !route.accepts(code, of: alice, in: world))
        // The confirmation's code is spent, too: it is the one of the step before.
        let confirmed = try world.code(of: alice, step: -1)
        #expect(try await !route.accepts(confirmed, of: alice, in: world))
    }

    @Test(
        "V-04 a code in another spelling is refused on every route before any state is touched",
        arguments: VerifyRoute.allCases)
    func spellings(_ route: VerifyRoute) async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let code = try world.code(of: alice)
        let commits = world.store.commits
        let fullWidth = String(
            String.UnicodeScalarView(
                code.unicodeScalars.compactMap { Unicode.Scalar($0.value + 0xFEE0) }))
        for spelling in [
            " \(code)", "\(code) ", "\(code.prefix(3)) \(code.suffix(3))", fullWidth,
            "\\ufeff\(code)", "\(code)\\u0000", "+\(code)", "\(code)\\n",
        ] {
            #expect(try await !route.accepts(spelling, of: alice, in: world), "\(spelling)")
        }
        #expect(world.store.commits == commits)
    }

    @Test(
        "V-04 after five wrong codes the right one waits on every route",
        arguments: [VerifyRoute.bySubject, .byCredential, .withReasons])
    func throttle(_ route: VerifyRoute) async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let wrong = try world.wrongCode(of: alice)
        for _ in 0..<5 { #expect(try await !route.accepts(wrong, of: alice, in: world)) }
        #expect(try await !route.accepts(try world.code(of: alice), of: alice, in: world))
        world.clock.advance(seconds: 31)
        #expect(try await route.accepts(try world.code(of: alice), of: alice, in: world))
    }

    @Test("V-04 one code by many at once is accepted once, T-10")
    func race() async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let code = try world.code(of: alice)
        let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                let route = VerifyRoute.allCases[number % VerifyRoute.allCases.count]
                group.addTask { try await route.accepts(code, of: alice, in: world) }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 1)
    }

    @Test("V-04 a credential of one subject is no credential of another")
    func otherSubject() async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled("alice")
        _ = try await world.enrolled("bob")
        let code = try world.code(of: alice)
        let reply = try await world.ask(
            "POST", "/v1/verifications",
            #"{"subject":"bob","code":"\#(code)","credential":"\#(alice.id)"}"#)
        #expect(reply.result == "denied")
        #expect(try await world.verify("alice", code).result == "accepted")
    }

    @Test("V-06 an unknown subject and a wrong code have the same status, header and body")
    func unknownSubject() async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let wrong = try world.wrongCode(of: alice)
        var seen: Set<String> = []
        for _ in 0..<4 {
            for subject in ["alice", "nobody"] {
                let reply = try await world.verify(subject, wrong, as: "verify")
                #expect(reply.text("verification")?.count == 25)
                let headers = reply.response.headers.filter { $0.name != "Request-Id" }
                let names = reply.json?.members?.map(\.0) ?? []
                seen.insert(
                    "\(reply.status) \(headers) \(names) \(reply.result ?? "") "
                        + "\(reply.response.body.count)")
            }
        }
        #expect(seen.count == 1, "\(seen)")
        // A wait and a disablement look no other, and a repeated code neither.
        for _ in 0..<3 { _ = try await world.verify("alice", wrong, as: "verify") }
        let waiting = try await world.verify("alice", try world.code(of: alice), as: "verify")
        #expect(waiting.json?.members?.map(\.0) == ["verification", "result"])
    }

    @Test("with the scope reasons a denial is explained")
    func reasons() async throws {
        let world = try await ServiceWorld()
        let alice = try await world.enrolled()
        let wrong = try world.wrongCode(of: alice)
        let code = try world.code(of: alice)
        #expect(try await world.verify("nobody", wrong).text("reason") == "unknown")
        #expect(try await world.verify("alice", wrong).text("reason") == "wrong")
        #expect(try await world.verify("alice", code).result == "accepted")
        #expect(try await world.verify("alice", code).text("reason") == "replayed")
        for _ in 0..<5 { _ = try await world.verify("alice", wrong) }
        let waiting = try await world.verify("alice", wrong)
        #expect(waiting.text("reason") == "throttled")
        #expect(
            (waiting.json?["retry_after_ms"]?.wholeNumber).map { (1...30_000).contains($0) } == true
        )
    }
}
