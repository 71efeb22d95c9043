import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Import")
struct ImportTests {
    private static let key = SecretBytes(text: "a key from elsewhere")
    private static let shortKey = SecretBytes(text: "ten bytes!")

    /// Imports a key and returns its authenticator.
    private static func imported(
        _ factor: OneTimePasswordImport.Factor, key: SecretBytes = key,
        allowingShortKey: Bool = false, isConfirmed: Bool = true, in fixture: VerifierFixture
    ) async throws -> TestAuthenticator {
        let given = try OneTimePasswordImport(
            key: key, allowingShortKey: allowingShortKey, factor: factor, isConfirmed: isConfirmed)
        let outcome = try await fixture.verifier.importOneTimePassword(given, for: fixture.alice)
        guard case .imported(let id, _) = outcome else { throw BenchError.refused }
        return try TestAuthenticator(id, given)
    }

    /// The step of the fixture's clock.
    private static func step(_ fixture: VerifierFixture) -> UInt64 {
        UInt64(fixture.clock.now.seconds / 30)
    }

    @Test("T-10 codes up to the last used step of an imported key are spent; later codes are valid")
    func lastUsedStep() async throws {
        let fixture = try VerifierFixture()
        let used = Self.step(fixture)
        let phone = try await Self.imported(
            .time(period: 30, lastUsedStep: used), in: fixture)
        #expect(try await fixture.verify(phone.code(used - 1)).denial == .replayed)
        #expect(try await fixture.verify(phone.code(used)).denial == .replayed)
        #expect(try await fixture.verify(phone.code(used + 1)).acceptance?.offset == 1)
        #expect(try await fixture.verify(phone.code(used + 1)).denial == .replayed)
    }

    @Test("an imported key without a last used step accepts the current code once")
    func unusedKey() async throws {
        let fixture = try VerifierFixture()
        let phone = try await Self.imported(.time(period: 30, lastUsedStep: nil), in: fixture)
        let code = try phone.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code).acceptance?.credential == phone.credential)
        #expect(try await fixture.verify(code).denial == .replayed)
    }

    @Test("an imported counter is the counter of the next code")
    func counter() async throws {
        let fixture = try VerifierFixture()
        let token = try await Self.imported(.counter(1 << 40), in: fixture)
        #expect(try await fixture.verify(token.code((1 << 40) - 1)).denial == .replayed)
        #expect(try await fixture.verify(token.code(1 << 40)).acceptance?.offset == 0)
        #expect(try await fixture.verify(token.code(1 << 40)).denial == .replayed)
        #expect(throws: VerifierError.enrolment(.counter)) {
            try OneTimePasswordImport(key: Self.key, factor: .counter(.max))
        }
    }

    @Test(
        "a last used step beyond the window is refused and changes nothing",
        arguments: WindowProfile.allCases)
    func usedInFuture(profile: WindowProfile) async throws {
        let fixture = try VerifierFixture(policy: Policy(profile: profile))
        let last = Self.step(fixture) + UInt64(profile.ahead)
        for step in [last + 1, last + 1_000, .max] {
            let given = try OneTimePasswordImport(
                key: Self.key, factor: .time(period: 30, lastUsedStep: step))
            let outcome = try await fixture.verifier.importOneTimePassword(
                given, for: fixture.alice)
            #expect(outcome == .refused(.usedInFuture))
        }
        #expect(try await fixture.events().isEmpty)
        _ = try await Self.imported(.time(period: 30, lastUsedStep: last), in: fixture)
    }

    @Test("without confirmation, an imported key waits ten minutes for its first, unspent code")
    func unconfirmed() async throws {
        let fixture = try VerifierFixture()
        let used = Self.step(fixture)
        let phone = try await Self.imported(
            .time(period: 30, lastUsedStep: used), isConfirmed: false, in: fixture)
        #expect(try await fixture.verify(phone.code(used + 1)).denial == .unknown)
        let spent = try await fixture.verifier.confirm(phone.credential, code: phone.code(used))
        #expect(spent.denial == .replayed)
        let first = try await fixture.verifier.confirm(
            phone.credential, code: phone.code(used + 1))
        #expect(first.acceptance?.credential == phone.credential)
        #expect(
            try await fixture.events().map(\.kind) == [
                .importStarted, .denied, .replayed, .enrolled,
            ])
        let late = try VerifierFixture()
        let pending = try await Self.imported(
            .time(period: 30, lastUsedStep: nil), isConfirmed: false, in: late)
        late.clock.advance(seconds: 600)
        let expired = try await late.verifier.confirm(
            pending.credential, code: pending.code(at: late.clock.now))
        #expect(expired.denial == .unknown)
    }

    @Test(
        "H-01 a key of 80 to 127 bits is accepted only by an import that allows it, and is marked")
    func shortKeys() async throws {
        for count in [10, 15] {
            let short = SecretBytes(copying: [UInt8](repeating: 7, count: count).span)
            #expect(throws: VerifierError.enrolment(.keyTooShort)) {
                try OneTimePasswordImport(key: short, factor: .counter(0))
            }
            let fixture = try VerifierFixture()
            let phone = try await Self.imported(
                .time(period: 30, lastUsedStep: nil), key: short, allowingShortKey: true,
                in: fixture)
            #expect(try await fixture.summary(phone.credential).hasShortKey)
            let event = try #require(try await fixture.events().first)
            #expect(event.kind == .imported && event.reason == .shortKey)
            #expect(try await fixture.verify(phone.code(at: fixture.clock.now)).acceptance != nil)
        }
        #expect(throws: VerifierError.enrolment(.keyTooShort)) {
            try OneTimePasswordImport(
                key: SecretBytes(text: "nine byte"), allowingShortKey: true, factor: .counter(0))
        }
    }

    @Test("H-01 a key of 128 bits is not marked, even if the import allows short keys")
    func longKey() async throws {
        let fixture = try VerifierFixture()
        let phone = try await Self.imported(
            .counter(0), key: SecretBytes(text: "sixteen bytes..."), allowingShortKey: true,
            in: fixture)
        #expect(try await !fixture.summary(phone.credential).hasShortKey)
        let event = try #require(try await fixture.events().first)
        #expect(event.kind == .imported && event.reason == nil && event.isNotification)
    }

    @Test("H-01 the mark of a short key survives a rotation of the server's keys")
    func rotatedShortKey() async throws {
        let fixture = try VerifierFixture()
        let phone = try await Self.imported(
            .counter(5), key: Self.shortKey, allowingShortKey: true, in: fixture)
        try await fixture.keys.change { ring in
            try ring.adding(makingCurrent: true)
        }
        #expect(try await fixture.verifier.rotateKeys().resealed == 1)
        #expect(try await fixture.summary(phone.credential).hasShortKey)
        #expect(try await fixture.verify(phone.code(5)).acceptance != nil)
    }

    @Test("T-04 a key that is or was in use is not imported; a subject's own key counts as present")
    func usedKey() async throws {
        let fixture = try VerifierFixture()
        let bob = try #require(Subject("bob"))
        let given = try OneTimePasswordImport(
            key: Self.key, factor: .counter(3), isConfirmed: true)
        let phone = try await Self.imported(.counter(3), in: fixture)
        let again = try await fixture.verifier.importOneTimePassword(given, for: fixture.alice)
        #expect(again == .present(phone.credential))
        let other = try await fixture.verifier.importOneTimePassword(given, for: bob)
        #expect(other == .refused(.keyInUse))
        #expect(try await fixture.events().count == 1)
        _ = try await fixture.verifier.revoke(phone.credential)
        let ended = try await fixture.verifier.importOneTimePassword(given, for: fixture.alice)
        #expect(ended == .refused(.keyInUse))
    }

    @Test("an import respects the limits on digits, periods and the number of credentials")
    func limits() async throws {
        for digits in [5, 9] {
            #expect(throws: VerifierError.enrolment(.digits)) {
                try OneTimePasswordImport(key: Self.key, factor: .counter(0), digits: digits)
            }
        }
        #expect(throws: VerifierError.enrolment(.period)) {
            try OneTimePasswordImport(
                key: Self.key, factor: .time(period: 121, lastUsedStep: nil))
        }
        #expect(throws: VerifierError.enrolment(.text(.name))) {
            try OneTimePasswordImport(
                key: Self.key, factor: .counter(0), name: String(repeating: "n", count: 257))
        }
        let fixture = try VerifierFixture(policy: Policy(maximumCredentials: 1))
        _ = try await Self.imported(.counter(0), in: fixture)
        let second = try OneTimePasswordImport(
            key: SecretBytes(text: "another key entirely"), factor: .counter(0))
        #expect(
            try await fixture.verifier.importOneTimePassword(second, for: fixture.alice)
                == .refused(.tooMany))
    }

    @Test("a rehearsal has the outcomes of the imports, and changes nothing")
    func rehearsal() async throws {
        let fixture = try VerifierFixture(policy: Policy(maximumCredentials: 2))
        let bob = try #require(Subject("bob"))
        let expired = try await Self.imported(
            .counter(0), key: SecretBytes(text: "an expired enrolment"), isConfirmed: false,
            in: fixture)
        fixture.clock.advance(seconds: 601)
        let future = Self.step(fixture) + 2
        let imports = try [
            (Self.key, .counter(0), fixture.alice), (Self.key, .counter(9), fixture.alice),
            (Self.key, .counter(0), bob),
            (SecretBytes(text: "an expired enrolment"), .counter(0), bob),
            (
                SecretBytes(text: "used in the future.."),
                .time(period: 30, lastUsedStep: future), bob
            ),
            (SecretBytes(text: "the second of two..."), .counter(0), bob),
            (SecretBytes(text: "the third of two...."), .counter(0), bob),
        ].map { (key, factor: OneTimePasswordImport.Factor, subject) in
            let given = try OneTimePasswordImport(key: key, factor: factor, isConfirmed: true)
            return (given: given, subject: subject)
        }
        _ = await fixture.store.takeCalls()
        let rehearsed = try await fixture.verifier.rehearse(imports)
        #expect(
            await fixture.store.takeCalls().allSatisfy { call in
                if case .commit = call { false } else { true }
            })
        #expect(try await fixture.summary(expired.credential).endedAt == nil)
        var real: [ImportOutcome] = []
        for (given, subject) in imports {
            real.append(try await fixture.verifier.importOneTimePassword(given, for: subject))
        }
        #expect(rehearsed.map(Self.word) == real.map(Self.word))
        #expect(
            real.map(Self.word) == [
                "imported", "present", "keyInUse", "imported", "usedInFuture", "imported",
                "tooMany",
            ])
    }

    private static func word(_ outcome: ImportOutcome) -> String {
        switch outcome {
        case .imported: "imported"
        case .present: "present"
        case .refused(let refusal): "\(refusal)"
        }
    }

    @Test("of fifty concurrent imports of one key, one succeeds; the others find it present")
    func race() async throws {
        let fixture = try VerifierFixture()
        let given = try OneTimePasswordImport(
            key: Self.key, factor: .counter(0), isConfirmed: true)
        let outcomes = try await withThrowingTaskGroup(of: ImportOutcome.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await fixture.verifier.importOneTimePassword(given, for: fixture.alice)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.map(Self.word).count { $0 == "imported" } == 1)
        #expect(outcomes.map(Self.word).count { $0 == "present" } == 49)
    }
}

extension TestAuthenticator {
    /// The authenticator whose key was imported.
    fileprivate init(_ id: CredentialID, _ given: OneTimePasswordImport) throws {
        let factor: MovingFactor =
            switch given.factor {
            case .time(let period, _): .time(try #require(TimeStep(period: Int64(period))))
            case .counter(let counter): .counter(counter)
            }
        self.init(
            credential: id,
            entry: try Credential(
                issuer: "", account: "alice", key: given.key, algorithm: given.algorithm,
                style: .decimal(try #require(CodeLength(digits: given.digits))),
                movingFactor: factor))
    }
}
