import StoreContract
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Clients that are limited to some subjects")
struct SubjectLimitTests {
    @Test(
        "a limit ends in a slash or a colon, and has at most 255 bytes",
        arguments: [
            ("shop/", true), ("unix:web1:", true), ("/", true), (":", true), ("é/", true),
            (String(repeating: "a", count: 254) + "/", true),
            (String(repeating: "a", count: 255) + "/", false), ("", false), ("shop", false),
            ("shop/ ", false), ("shop\0/", false),
        ])
    func prefixes(text: String, isValid: Bool) {
        #expect((SubjectPrefix(text) != nil) == isValid)
    }

    @Test("a limit includes the subjects that begin with it, byte for byte")
    func included() throws {
        let limit = SubjectPrefix.sample("unix:é:")
        for (name, isIncluded) in [
            ("unix:é:alice", true), ("unix:é:", true), ("unix:e\u{301}:alice", false),
            ("unix:é", false), ("unix:é2:alice", false), ("Unix:é:alice", false),
        ] {
            #expect(limit.includes(Array(name.utf8)) == isIncluded, "\(name)")
        }
    }

    @Test("a client keeps its limit when it is renewed or revoked")
    func kept() async throws {
        let fixture = try VerifierFixture()
        let limit = SubjectPrefix.sample("shop/")
        let (client, _) = try #require(
            try await fixture.verifier.addClient(
                named: "shop", scopes: ["verify"], limitedTo: limit))
        #expect(client.subjects == limit)
        _ = try await fixture.verifier.renewClient(client.id)
        #expect(try await fixture.verifier.clients().map(\.subjects) == [limit])
        _ = try await fixture.verifier.revokeClient(client.id)
        let stored = try await fixture.verifier.clients()
        #expect(stored.map(\.subjects) == [limit] && stored.map(\.version) == [3])
    }

    @Test("the credential of another subject is unknown to a limited client")
    func foreign() async throws {
        let fixture = try VerifierFixture()
        let own = try #require(Subject("shop/bob"))
        let foreign = try await fixture.enrolled().credential
        let pending = try await fixture.enrol()
        let known = try await fixture.enrolled(for: own).credential
        let verifier = fixture.verifier.limited(to: .sample("shop/"))
        let code = try pending.code(at: fixture.clock.now)
        #expect(try await verifier.revoke(foreign) == .unknown)
        #expect(try await verifier.unlock(foreign) == .unknown)
        #expect(try await verifier.rename(foreign, to: "x") == .unknown)
        #expect(try await verifier.credential(foreign) == nil)
        #expect(try await verifier.confirm(pending.credential, code: code).denial == .unknown)
        #expect(
            try await verifier.resynchronize(foreign, first: code, second: code).denial == .unknown)
        #expect(try await fixture.verifier.credential(foreign)?.state == .active)
        // The nearest accepted cases: a credential of a permitted subject, and a verifier without a
        // limit.
        #expect(try await verifier.rename(known, to: "x") == .done)
        #expect(try await verifier.revoke(known) == .done)
        #expect(try await fixture.verifier.confirm(pending.credential, code: code).denial == nil)
    }

    /// A client's queries about a credential.
    enum Question: CaseIterable { case confirming, resynchronizing, revoking, unlocking, renaming }

    @Test(
        "V-06 the credential of another subject costs the same as an unknown credential",
        arguments: Question.allCases)
    func cost(_ question: Question) async throws {
        let fixture = try VerifierFixture()
        let foreign = try await fixture.enrol()
        let none = CredentialID.anywhere()
        let verifier = fixture.verifier.limited(to: .sample("shop/"))
        let code = try foreign.code(at: fixture.clock.now)
        func ask(_ id: CredentialID) async throws {
            switch question {
            case .confirming: _ = try await verifier.confirm(id, code: code)
            case .resynchronizing:
                _ = try await verifier.resynchronize(id, first: code, second: code)
            case .revoking: _ = try await verifier.revoke(id)
            case .unlocking: _ = try await verifier.unlock(id)
            case .renaming: _ = try await verifier.rename(id, to: "x")
            }
        }
        var costs: [[WorkMeter.Work: Int]] = []
        var calls: [[CountingStore.Call]] = []
        for id in [none, foreign.credential] {
            // Denials are counted per minute.
            fixture.clock.advance(seconds: 120)
            _ = await fixture.store.takeCalls()
            let before = fixture.meter.counts
            try await ask(id)
            costs.append(fixture.meter.counts.merging(before) { $0 - $1 })
            calls.append(await fixture.store.takeCalls())
        }
        #expect(costs[0] == costs[1])
        #expect(calls[0] == calls[1])
    }

    @Test(
        "a limited client cannot redeem a login of another subject, and does not spend its ticket")
    func logins() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let login = try await fixture.login(device, nonce: 1)
        guard case .accepted(let acceptance) = login.result else { throw BenchError.refused }
        let limited = fixture.verifier.limited(to: .sample("shop/"))
        guard case .denied = try await limited.redeemLogin(acceptance.login) else {
            Issue.record("redeemed")
            return
        }
        #expect(try await fixture.events().last?.reason == .otherAudience)
        guard case .redeemed = try await fixture.verifier.redeemLogin(acceptance.login) else {
            Issue.record("spent")
            return
        }
    }

    @Test("a challenge of a limited client is useless to the device key of another subject")
    func challenges() async throws {
        let fixture = try VerifierFixture()
        let keys = DeviceKeys(fixture.verifier, audiences: ["https://login.example"])
        let device = try TestDeviceKey()
        guard
            case .granted(let grant) = try await keys.enrol(DeviceKeyEnrolment(for: fixture.alice)),
            case .accepted(let id, _) = try await keys.register(device, grant.ticket)
        else { throw BenchError.refused }
        for (limit, isAccepted) in [("shop/", false), ("alice/", false), (nil, true)]
            as [(String?, Bool)]
        {
            let asker = limit.map { keys.limited(to: .sample($0)) } ?? keys
            let challenge = try await asker.challenge(for: id, confirming: "pay")
            let sent = try device.answer(challenge, by: id, text: "pay")
            let outcome = try await keys.verify(sent)
            if case .accepted = outcome.result {
                #expect(isAccepted)
            } else {
                #expect(!isAccepted, "\(limit ?? "no limit")")
            }
        }
    }
}

@Suite("Queries of a help desk")
struct HelpDeskTests {
    /// All pages of subjects, one after the other.
    private func pages(
        _ verifier: Verifier, _ beginning: String = "", limit: Int
    ) async throws -> [[String]] {
        var pages: [[String]] = []
        var next: Subject?
        repeat {
            let page = try await verifier.subjects(
                beginningWith: beginning, after: next, limit: limit)
            pages.append(page.subjects.map(\.subject.text))
            next = page.next
        } while next != nil
        return pages
    }

    @Test("subjects are listed page by page, each with all of its credentials")
    func subjects() async throws {
        let fixture = try VerifierFixture()
        for name in ["b", "a/2", "a/1", "a/3"] {
            _ = try await fixture.enrolled(for: .sample(name))
            fixture.clock.advance(seconds: 1)
            _ = try await fixture.verifier.enrolRecoveryCodes(for: .sample(name))
        }
        let revoked = try await fixture.enrolled(for: .sample("a/4"))
        _ = try await fixture.verifier.revoke(revoked.credential)
        #expect(try await pages(fixture.verifier, limit: 3) == [["a/1", "a/2", "a/3"], ["b"]])
        #expect(try await pages(fixture.verifier, limit: 4) == [["a/1", "a/2", "a/3", "b"]])
        #expect(try await pages(fixture.verifier, "a/", limit: 2) == [["a/1", "a/2"], ["a/3"]])
        let page = try await fixture.verifier.subjects()
        #expect(page.subjects.allSatisfy { $0.credentials.map(\.kind) == [.totp, .recovery] })
        let limited = fixture.verifier.limited(to: .sample("a/"))
        #expect(try await pages(limited, "a/", limit: 9) == [["a/1", "a/2", "a/3"]])
        for beginning in ["", "b", "a"] {
            #expect(try await pages(limited, beginning, limit: 9) == [[]])
        }
    }

    @Test("a page of subjects ends before a subject whose credentials do not fit")
    func fullPage() async throws {
        let fixture = try VerifierFixture()
        let most = Policy.highestMaximumCredentials
        for number in 0..<(12 * most) {
            let subject = "s\(100 + number / most)"
            let record = CredentialRecord(
                id: .sample(number), subject: .sample(subject), kind: .secret, createdAt: .at(0),
                origin: .unknown, state: .active, name: "", material: .none)
            #expect(try await fixture.store.commit([.insertCredential(record.row)]) == .done)
        }
        let page = try await fixture.verifier.subjects(limit: 1_000)
        #expect(page.subjects.count == 9 && page.next == .sample("s108"))
        #expect(page.subjects.allSatisfy { $0.credentials.count == most })
        #expect(try await pages(fixture.verifier, limit: 1_000).map(\.count) == [9, 3])
    }

    @Test("a disabled or revoked second factor differs from an absent one")
    func secondFactor() async throws {
        let fixture = try VerifierFixture()
        let alice = fixture.alice
        func factor() async throws -> SecondFactor {
            try await fixture.verifier.secondFactor(of: alice)
        }
        #expect(try await factor() == .none)
        let pending = try await fixture.enrol()
        #expect(try await factor() == .none)
        _ = try await fixture.verifier.revoke(pending.credential)
        #expect(try await factor() == .none)
        let active = try await fixture.enrolled()
        #expect(try await factor() == .active([.totp]))
        guard case .granted(let set) = try await fixture.verifier.enrolRecoveryCodes(for: alice)
        else { throw BenchError.refused }
        #expect(try await factor() == .active([.totp, .recovery]))
        _ = try await fixture.verifier.revoke(set.credential)
        let row = try #require(await fixture.store.credential(active.credential))
        var record = try CredentialRecord(row)
        record.end(as: .disabled, because: .tooManyFailures, at: fixture.clock.now)
        #expect(try await fixture.store.commit([.updateCredential(record.row)]) == .done)
        #expect(try await factor() == .ended)
        _ = try await fixture.verifier.revoke(active.credential)
        #expect(try await factor() == .ended)
    }

    @Test("a subject's events after a given time are found among the events of all subjects")
    func events() async throws {
        let fixture = try VerifierFixture()
        let bob = Subject.sample("bob")
        for number in 0..<2_500 {
            let subject = number % 1_000 == 7 ? bob : fixture.alice
            let event = Event(.accepted, time: .at(Int64(number)), subject: subject)
            _ = try await fixture.store.commit([.appendEvent(event)])
        }
        func list(
            of subject: Subject?, since time: Int64? = nil, limit: Int,
            by verifier: Verifier = fixture.verifier
        ) async throws -> [[UInt64]] {
            var pages: [[UInt64]] = []
            var position: UInt64 = 0
            while true {
                let page = try await verifier.eventPage(
                    of: subject, since: time.map { .at($0) }, after: position, limit: limit)
                guard page.last != position else { return pages }
                pages.append(page.events.map(\.position))
                position = page.last
            }
        }
        #expect(try await list(of: bob, limit: 2) == [[8, 1_008], [2_008]])
        #expect(try await list(of: bob, limit: 9) == [[8, 1_008, 2_008]])
        #expect(try await list(of: bob, since: 1_007, limit: 9) == [[1_008, 2_008]])
        #expect(try await list(of: bob, since: 1_008, limit: 9) == [[2_008]])
        #expect(try await list(of: nil, since: 2_498, limit: 9).flatMap(\.self) == [2_499, 2_500])
        #expect(try await list(of: .sample("carol"), limit: 9).flatMap(\.self) == [])
        let limited = fixture.verifier.limited(to: .sample("b/"))
        #expect(try await list(of: bob, limit: 9, by: limited).flatMap(\.self) == [])
        #expect(try await list(of: nil, limit: 9, by: limited).flatMap(\.self) == [])
    }
}
