import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Enrolment")
struct EnrolmentTests {
    @Test(
        "H-02 T-05 T-09 V-12 the defaults are a key as long as the hash, six digits and 30 s",
        arguments: HashAlgorithm.allCases)
    func defaults(algorithm: HashAlgorithm) async throws {
        let fixture = try VerifierFixture()
        let one = try await fixture.enrol(algorithm: algorithm)
        #expect(one.entry.key.count == algorithm.digestCount)
        #expect(one.entry.algorithm == algorithm)
        #expect(one.entry.style == .decimal(.six))
        #expect(one.entry.movingFactor == .time(.standard))
    }

    @Test("H-01 N-01 a key of 15 bytes is refused, and a key of 16 bytes is accepted")
    func keyLength() async throws {
        let short = SecretBytes(text: "fifteen bytes..")
        #expect(throws: VerifierError.enrolment(.keyTooShort)) {
            try OneTimePasswordEnrolment(issuer: "", account: "", key: short)
        }
        let fixture = try VerifierFixture()
        let key = SecretBytes(text: "sixteen bytes...")
        #expect(try await fixture.enrol(key: key).entry.key == key)
        let long = SecretBytes(text: String(repeating: "k", count: 257))
        #expect(throws: VerifierError.enrolment(.keyTooLong)) {
            try OneTimePasswordEnrolment(issuer: "", account: "", key: long)
        }
    }

    @Test("the key URI of an enrolment parses strictly and preserves any accepted names")
    func names() async throws {
        let fixture = try VerifierFixture()
        let texts = ["", "a", ":", "a:b", "%3A", "é", "a b", "\u{1f511}", "a&b=c#d?e/f"]
        for issuer in texts {
            for account in texts {
                guard !issuer.isEmpty || !account.isEmpty else {
                    #expect(throws: VerifierError.enrolment(.text(.account))) {
                        try OneTimePasswordEnrolment(issuer: issuer, account: account)
                    }
                    continue
                }
                let subject = try #require(Subject("\(issuer)|\(account)"))
                let grant = try await fixture.verifier.enrolOneTimePassword(
                    OneTimePasswordEnrolment(issuer: issuer, account: account), for: subject
                ).granted()
                let entry = try TestAuthenticator(grant).entry
                #expect(entry.issuer == issuer && entry.account == account)
            }
        }
    }

    @Test("H-03 an enrolment accepts only six to eight digits")
    func digits() async throws {
        for digits in [5, 9, 10, -1] {
            #expect(throws: VerifierError.enrolment(.digits)) {
                try OneTimePasswordEnrolment(issuer: "", account: "", digits: digits)
            }
        }
        for digits in 6...8 {
            let fixture = try VerifierFixture()
            let authenticator = try await fixture.enrolled(digits: digits)
            fixture.clock.advance(seconds: 300)
            let code = try authenticator.code(at: fixture.clock.now)
            #expect(code.characters.count == digits)
            #expect(try await fixture.verify(code).acceptance != nil)
        }
    }

    @Test("N-02 an enrolment accepts only a time step of 1 to 120 seconds")
    func period() async throws {
        for period in [0, -30, 121, Int.max, Int.min] {
            #expect(throws: VerifierError.enrolment(.period)) {
                try OneTimePasswordEnrolment(
                    issuer: "", account: "", factor: .time(period: period))
            }
        }
        for period in [1, 120] {
            let fixture = try VerifierFixture()
            let authenticator = try await fixture.enrolled(.time(period: period))
            fixture.clock.advance(seconds: 600)
            let code = try authenticator.code(at: fixture.clock.now)
            #expect(try await fixture.verify(code).acceptance?.offset == 0)
        }
    }

    @Test("T-04 a key cannot be enrolled twice, even after the first credential has ended")
    func uniqueKey() async throws {
        let fixture = try VerifierFixture()
        let bob = try #require(Subject("bob"))
        let authenticator = try await fixture.enrolled()
        let enrolment = try OneTimePasswordEnrolment(
            issuer: "Mill", account: "", algorithm: .sha256, digits: 8, key: authenticator.entry.key
        )
        func isRefused() async throws -> Bool {
            let outcome = try await fixture.verifier.enrolOneTimePassword(enrolment, for: bob)
            if case .refused(.keyInUse) = outcome { return true }
            return false
        }
        #expect(try await isRefused())
        // If the key could be enrolled again, its spent codes would be accepted again.
        #expect(try await fixture.verifier.revoke(authenticator.credential) == .done)
        #expect(try await isRefused())
    }

    @Test("a second revocation keeps the time of the first and adds no event")
    func revokedTwice() async throws {
        let fixture = try VerifierFixture()
        let credential = try await fixture.enrolled().credential
        #expect(try await fixture.verifier.revoke(credential) == .done)
        let ended = try await fixture.summary(credential).endedAt
        fixture.clock.advance(seconds: 60)
        #expect(try await fixture.verifier.revoke(credential) == .done)
        #expect(try await fixture.summary(credential).endedAt == ended)
        #expect(try await fixture.count(.revoked) == 1)
    }

    @Test("a confirmed enrolment no longer has an expiry time")
    func confirmedForGood() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrol()
        let pending = try #require(await fixture.store.credential(authenticator.credential))
        #expect(pending.lapsesAt != nil)
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(
            try await fixture.verifier.confirm(authenticator.credential, code: code).acceptance
                != nil)
        let active = try #require(await fixture.store.credential(authenticator.credential))
        #expect(active.lapsesAt == nil)
    }

    @Test(
        "O-05 T-04 keys that HMAC treats as equal count as one key, whichever is enrolled first",
        arguments: HashAlgorithm.allCases)
    func equivalentKeys(algorithm: HashAlgorithm) async throws {
        let short = [UInt8](1...20)
        let long = [UInt8](1...200)
        let digest = algorithm.digest(of: SecretBytes(copying: long.span)).known
        let full = [UInt8](repeating: 7, count: algorithm.blockCount - 1)
        for keys in [
            [short, short + [0], short + [0, 0], short + [UInt8](repeating: 0, count: 44)],
            [long, digest, digest + [0]], [full, full + [0]],
        ] {
            for first in keys {
                let fixture = try VerifierFixture()
                let key = SecretBytes(copying: first.span)
                let one = try await fixture.enrolled(algorithm: algorithm, key: key)
                let bob = try #require(Subject("bob"))
                for other in keys {
                    let same = SecretBytes(copying: other.span)
                    await #expect(throws: BenchError.refused) {
                        try await fixture.enrol(algorithm: algorithm, key: same, for: bob)
                    }
                }
                #expect(try await fixture.verifier.revoke(one.credential) == .done)
                for other in keys {
                    let same = SecretBytes(copying: other.span)
                    await #expect(throws: BenchError.refused) {
                        try await fixture.enrol(algorithm: algorithm, key: same, for: bob)
                    }
                }
            }
        }
    }

    @Test("O-05 T-04 keys that HMAC treats as different count as different keys")
    func distinctKeys() async throws {
        let fixture = try VerifierFixture()
        let block = [UInt8](repeating: 7, count: 64)
        let keys = [
            [UInt8](1...20), [0] + [UInt8](1...20), block, [0] + block, [UInt8](1...100),
            [UInt8](1...101),
        ]
        for key in keys { _ = try await fixture.enrol(key: SecretBytes(copying: key.span)) }
    }

    @Test("O-05 T-04 a long key is recognised under any algorithm")
    func longKeyWithAnotherAlgorithm() async throws {
        for first in HashAlgorithm.allCases {
            let fixture = try VerifierFixture()
            let key = SecretBytes(copying: [UInt8](1...200).span)
            _ = try await fixture.enrol(algorithm: first, key: key)
            for algorithm in HashAlgorithm.allCases {
                await #expect(throws: BenchError.refused) {
                    try await fixture.enrol(algorithm: algorithm, key: key)
                }
            }
        }
    }

    @Test("T-04 a key can be enrolled again once an unconfirmed enrolment has expired")
    func releasedKey() async throws {
        let fixture = try VerifierFixture()
        let key = SecretBytes(text: "a key from elsewhere")
        _ = try await fixture.enrol(key: key)
        await #expect(throws: BenchError.refused) { try await fixture.enrol(key: key) }
        fixture.clock.advance(seconds: 600)
        let second = try await fixture.enrol(key: key)
        let outcome = try await fixture.verifier.confirm(
            second.credential, code: second.code(at: fixture.clock.now))
        #expect(outcome.acceptance != nil)
    }

    @Test("a pending credential accepts no login and can be confirmed once within ten minutes")
    func confirmation() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrol()
        let code = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(code).denial == .unknown)
        fixture.clock.now = fixture.clock.now.adding(milliseconds: 599_999)
        let late = try authenticator.code(at: fixture.clock.now)
        let confirmed = try await fixture.verifier.confirm(authenticator.credential, code: late)
        #expect(confirmed.acceptance?.credential == authenticator.credential)
        #expect(try await fixture.summary(authenticator.credential).state == .active)
        let again = try await fixture.verifier.confirm(
            authenticator.credential, code: authenticator.code(at: fixture.clock.now, steps: 1))
        #expect(again.denial == .unknown)
    }

    @Test("N-34 an unconfirmed enrolment expires after ten minutes")
    func lapsed() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrol()
        fixture.clock.advance(seconds: 600)
        let outcome = try await fixture.verifier.confirm(
            authenticator.credential, code: authenticator.code(at: fixture.clock.now))
        #expect(outcome.denial == .unknown)
        #expect(try await fixture.summary(authenticator.credential).state == .revoked)
        // Pruning waits until an event some hours later confirms the time.
        #expect(try await fixture.verifier.prune().credentials == 0)
        fixture.clock.advance(seconds: 4 * 3_600)
        #expect(try await fixture.verifier.prune().credentials == 1)
        #expect(try await fixture.verifier.credential(authenticator.credential) == nil)
    }

    @Test("wrong codes in a confirmation count as failures and impose waits")
    func confirmationThrottle() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrol()
        let wrong = try authenticator.wrongCode(at: fixture.clock.now)
        for _ in 0..<Policy.failuresUntilWait {
            let outcome = try await fixture.verifier.confirm(
                authenticator.credential, code: wrong)
            #expect(outcome.denial == .wrong)
        }
        let outcome = try await fixture.verifier.confirm(
            authenticator.credential, code: authenticator.code(at: fixture.clock.now))
        #expect(outcome.denial == .throttled(retryAfter: Policy.firstWait))
    }

    @Test("N-31 a revoked credential stays on record with its dates and origin")
    func record() async throws {
        let fixture = try VerifierFixture()
        let origin = Origin(address: "192.0.2.7", userAgent: "phone/1")
        let enrolment = try OneTimePasswordEnrolment(
            issuer: "Watchword", account: "alice", name: "old phone")
        let grant = try await fixture.verifier.enrolOneTimePassword(
            enrolment, for: fixture.alice, origin: origin
        ).granted()
        let authenticator = try TestAuthenticator(grant)
        let bound = fixture.clock.now
        _ = try await fixture.verifier.confirm(
            grant.credential, code: authenticator.code(at: fixture.clock.now))
        fixture.clock.advance(seconds: 300)
        let used = fixture.clock.now
        _ = try await fixture.verify(authenticator.code(at: used))
        fixture.clock.advance(seconds: 300)
        _ = try await fixture.verifier.revoke(grant.credential)
        let listed = try await fixture.verifier.credentials(of: fixture.alice).credentials
        let summary = try #require(listed.first)
        #expect(listed.count == 1)
        #expect(summary.state == .revoked)
        #expect(summary.name == "old phone")
        #expect(summary.confirmedAt == bound)
        #expect(summary.lastUsedAt == used)
        #expect(summary.endedAt == fixture.clock.now)
        #expect(summary.endReason == .revoked)
        #expect(summary.origin == origin)
        let row = try #require(await fixture.store.credential(grant.credential))
        #expect(row.keyID == nil, "the row no longer contains a secret")
    }

    @Test("N-39 every node denies a revoked credential from the next request on")
    func revoked() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        fixture.clock.advance(seconds: 300)
        _ = try await fixture.verifier.revoke(authenticator.credential)
        let outcome = try await fixture.anotherVerifier().verify(
            authenticator.code(at: fixture.clock.now), subject: fixture.alice)
        #expect(outcome.denial == .unknown)
    }

    @Test("a credential's name is at most 256 bytes, and an unknown id is reported")
    func renaming() async throws {
        let fixture = try VerifierFixture()
        let authenticator = try await fixture.enrolled()
        let id = authenticator.credential
        #expect(try await fixture.verifier.rename(id, to: "new") == .done)
        #expect(try await fixture.summary(id).name == "new")
        let long = String(repeating: "n", count: 257)
        #expect(try await fixture.verifier.rename(id, to: long) == .refused)
        let none = try #require(CredentialID(bytes: [UInt8](repeating: 0, count: 16)))
        #expect(try await fixture.verifier.rename(none, to: "x") == .unknown)
        #expect(try await fixture.verifier.unlock(none) == .unknown)
        #expect(try await fixture.verifier.revoke(none) == .unknown)
    }
}
