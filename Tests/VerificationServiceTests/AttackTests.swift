import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

struct AttackTests {
    @Test("V-04 the attacks cover every route that verifies a proof")
    func complete() {
        let proving = Set(ProvingRoute.allCases.map(\.operation))
        let others: Set<String> = [
            "enrol", "listCredentials", "renameCredential", "revokeCredential", "unlockCredential",
            "closeAccount", "listSubjects", "describeSubject", "listSubjectEvents", "listEvents",
            "describeInterface", "beginCeremony",
            "listAcceptedPasskeys", "beginBrowserCeremony",
            "createConfirmation", "createDeviceChallenge",
            // Only a TPM can prove itself; KeyAttestationTests covers the refused cases.
            "activateDeviceKey",
        ]
        #expect(proving.isDisjoint(with: others))
        #expect(proving.union(others) == Set(RouteTable.all.map(\.operation.id)))
    }

    @Test(
        "V-04 V-09 N-28 an accepted value is refused on the same route from then on",
        arguments: ProvingRoute.allCases)
    func replay(_ route: ProvingRoute) async throws {
        let fixture = try await ServiceFixture()
        let proof = try await fixture.proof(on: route)
        let value = try proof.right()
        #expect(try await proof.accepts(value, attempt: 0, in: fixture))
        for attempt in 1...3 {
            #expect(try await !proof.accepts(value, attempt: attempt, in: fixture))
        }
    }

    @Test(
        "V-04 T-10 a code accepted on any route is a replay on the verification route",
        arguments: ProvingRoute.ofCodes)
    func replayElsewhere(_ route: ProvingRoute) async throws {
        let fixture = try await ServiceFixture()
        let proof = try await fixture.proof(on: route)
        let value = try proof.right()
        #expect(try await proof.accepts(value, in: fixture))
        for code in value.split(separator: #"",""#) {
            let reply = try await fixture.verify("alice", String(code))
            #expect(reply.text("reason") == "replayed")
        }
    }

    @Test(
        "V-04 T-10 a different spelling of a value is rejected on every route before any state changes",
        arguments: ProvingRoute.allCases)
    func spellings(_ route: ProvingRoute) async throws {
        let fixture = try await ServiceFixture()
        let proof = try await fixture.proof(on: route)
        let value = try proof.right()
        let commits = fixture.store.commits
        let fullWidth = String(
            String.UnicodeScalarView(
                value.unicodeScalars.compactMap {
                    $0.properties.isAlphabetic || $0.properties.numericType == .decimal
                        ? Unicode.Scalar($0.value + 0xFEE0) : $0
                }))
        // People type spaces inside codes.
        let isCode = ProvingRoute.ofCodes.contains(route) || route == .recoveryCode
        let spaced = isCode ? [] : ["\(value.prefix(5)) \(value.dropFirst(5))"]
        for spelling in spaced + [
            " \(value)", "\(value) ", fullWidth, "\\ufeff\(value)", "\(value)\\u0000", "+\(value)",
            "\(value)\\n", "\(value)=",
        ] {
            #expect(try await !proof.accepts(spelling, in: fixture), "\(spelling)")
        }
        #expect(fixture.store.commits == commits)
        // The unchanged value is still valid.
        #expect(try await proof.accepts(value, in: fixture))
    }

    @Test(
        "V-04 N-21 during the wait after wrong guesses, every route that takes a code refuses the correct code",
        arguments: ProvingRoute.ofCodes + [.recoveryCode])
    func throttle(_ route: ProvingRoute) async throws {
        let fixture = try await ServiceFixture()
        let proof = try await fixture.proof(on: route)
        for _ in 0..<Policy.standard.firstFailureWithWait {
            #expect(try await !proof.accepts(proof.wrong, in: fixture))
        }
        #expect(try await !proof.accepts(proof.right(), in: fixture))
        fixture.clock.advance(seconds: Policy.firstWait / 1_000 + 1)
        #expect(try await proof.accepts(proof.right(), in: fixture))
    }

    @Test(
        "V-04 a wrong value is refused on every route, and the correct value is accepted afterwards",
        arguments: ProvingRoute.repeatable)
    func wrong(_ route: ProvingRoute) async throws {
        let fixture = try await ServiceFixture()
        let proof = try await fixture.proof(on: route)
        #expect(try await !proof.accepts(proof.wrong, attempt: 1, in: fixture))
        #expect(try await proof.accepts(proof.right(), attempt: 2, in: fixture))
    }

    @Test(
        "V-04 V-09 a value presented a hundred times at once is accepted once, on every route",
        arguments: ProvingRoute.allCases)
    func race(_ route: ProvingRoute) async throws {
        let fixture = try await ServiceFixture()
        let proof = try await fixture.proof(on: route)
        let value = try proof.right()
        let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for attempt in 0..<100 {
                group.addTask { try await proof.accepts(value, attempt: attempt, in: fixture) }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 1)
    }

    @Test("V-04 T-10 a code presented concurrently on several routes is accepted once")
    func raceOfRoutes() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        let next = try fixture.code(of: alice, step: 1)
        let bodies = [
            ("/v1/verifications", #"{"subject":"alice","code":"\#(code)"}"#),
            (
                "/v1/verifications",
                #"{"subject":"alice","code":"\#(code)","credential":"\#(alice.id)"}"#
            ),
            ("/v1/credentials/\(alice.id)/resync", #"{"codes":["\#(code)","\#(next)"]}"#),
        ]
        let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<99 {
                let (target, body) = bodies[number % bodies.count]
                group.addTask { try await fixture.ask("POST", target, body).result == "accepted" }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 1)
    }

    @Test("V-04 a code from one subject's credential is refused for another subject")
    func otherSubject() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled("alice")
        _ = try await fixture.enrolled("bob")
        let code = try fixture.code(of: alice)
        let reply = try await fixture.ask(
            "POST", "/v1/verifications",
            #"{"subject":"bob","code":"\#(code)","credential":"\#(alice.id)"}"#)
        #expect(reply.result == "denied")
        #expect(try await fixture.verify("alice", code).result == "accepted")
    }

    /// All facts with which a client could distinguish denials, except ids and times.
    private func look(_ reply: Reply) -> String {
        let headers = reply.response.headers.filter { $0.name != "Request-Id" }
        let names = reply.json?.members?.map(\.0) ?? []
        return "\(reply.status) \(headers) \(names) \(reply.result ?? "") "
            + "\(reply.response.body.count)"
    }

    @Test("V-06 an unknown subject, a wrong code and throttling get indistinguishable responses")
    func unknownSubject() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let wrong = try fixture.wrongCode(of: alice)
        var seen: Set<String> = []
        for _ in 0..<4 {
            for subject in ["alice", "nobody"] {
                let reply = try await fixture.verify(subject, wrong, as: "verify")
                #expect(reply.text("verification")?.count == 25)
                seen.insert(look(reply))
            }
        }
        #expect(seen.count == 1, "\(seen)")
        // Throttling, disabling and replays also look the same.
        for _ in 0..<Policy.standard.firstFailureWithWait {
            _ = try await fixture.verify("alice", wrong, as: "verify")
        }
        let waiting = try await fixture.verify("alice", try fixture.code(of: alice), as: "verify")
        #expect(seen == [look(waiting)])
    }

    @Test(
        "N-08 V-33 a replayed code adds an event that notifies the user, and is denied like a wrong code"
    )
    func replayNoticed() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let code = try fixture.code(of: alice)
        #expect(try await fixture.verify("alice", code, as: "verify").result == "accepted")
        let wrong = try await fixture.verify("alice", fixture.wrongCode(of: alice), as: "verify")
        let replayed = try await fixture.verify("alice", code, as: "verify")
        #expect(look(replayed) == look(wrong))
        let events = try await fixture.ask("GET", "/v1/events?limit=1000", as: "audit")
        let last = try #require(events.json?["events"]?.elements?.last)
        #expect(last["kind"]?.string == "replayed")
        #expect(last["reason"]?.string == "spent")
        #expect(last["subject"]?.string == "alice")
        #expect(last["credential"]?.string == alice.id)
        guard case .flag(true)? = last["notify"] else {
            Issue.record("the event does not notify")
            return
        }
    }

    @Test("a client with the scope “reasons” learns why a code was denied")
    func reasons() async throws {
        let fixture = try await ServiceFixture()
        let alice = try await fixture.enrolled()
        let wrong = try fixture.wrongCode(of: alice)
        let code = try fixture.code(of: alice)
        #expect(try await fixture.verify("nobody", wrong).text("reason") == "unknown")
        #expect(try await fixture.verify("alice", wrong).text("reason") == "wrong")
        #expect(try await fixture.verify("alice", code).result == "accepted")
        #expect(try await fixture.verify("alice", code).text("reason") == "replayed")
        for _ in 0..<Policy.standard.firstFailureWithWait {
            _ = try await fixture.verify("alice", wrong)
        }
        let waiting = try await fixture.verify("alice", wrong)
        #expect(waiting.text("reason") == "throttled")
        let rest = try #require(waiting.json?["retry_after_ms"]?.wholeNumber)
        #expect(rest > 0 && rest <= Policy.firstWait)
    }
}
