import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Enrolled secrets")
struct LoginTests {
    @Test("a device signs in with its current secret, and its login ticket can be redeemed once")
    func current() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let outcome = try await fixture.login(device, nonce: 1)
        let acceptance = try #require(outcome.acceptance)
        #expect(acceptance.generation == 1)
        let expiry = fixture.clock.now.adding(milliseconds: 60_000)
        #expect(acceptance.expiresAt == expiry)
        let redeemed = try await fixture.verifier.redeemLogin(acceptance.login)
        #expect(
            redeemed.value
                == SignedIn(
                    subject: fixture.alice, credential: device.credential, kind: .secret,
                    verification: outcome.verification, verifiedAt: fixture.clock.now,
                    deviceKey: nil, passkey: nil))
        #expect(try await fixture.verifier.redeemLogin(acceptance.login).value == nil)
    }

    @Test("R-06 a login repeated with its nonce gets the same response and the same login ticket")
    func again() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let first = try await fixture.login(device, nonce: 1)
        fixture.clock.advance(seconds: 7)
        let second = try await fixture.login(device, nonce: 1)
        #expect(second.verification == first.verification)
        let (one, other) = (try #require(first.acceptance), try #require(second.acceptance))
        #expect(one.secret.bytes == other.secret.bytes)
        #expect(one.login.bytes == other.login.bytes)
        #expect(one.expiresAt == other.expiresAt)
        #expect(one.generation == other.generation)
        #expect(try await fixture.verifier.redeemLogin(one.login).value != nil)
        #expect(try await fixture.verifier.redeemLogin(other.login).value == nil)
    }

    @Test("R-07 R-04 N-37 a different nonce for the current secret revokes the credential")
    func fork() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let owner = try #require(try await fixture.login(device, nonce: 1).acceptance)
        #expect(try await fixture.login(device, nonce: 2).wipe == .reuseDetected)
        // The login ticket of the first holder is also no longer valid.
        #expect(try await fixture.verifier.redeemLogin(owner.login).value == nil)
        let next = device.with(owner.secret)
        #expect(try await fixture.login(next, nonce: 3).wipe == .reuseDetected)
        #expect(try await fixture.summary(device.credential).state == .revoked)
    }

    @Test("R-01 the successor becomes current, and the response contains the next one")
    func successor() async throws {
        let fixture = try VerifierFixture()
        var device = try await fixture.enrolledDevice()
        for generation in 1...5 {
            let outcome = try await fixture.login(device, nonce: UInt8(generation))
            let acceptance = try #require(outcome.acceptance)
            #expect(acceptance.generation == UInt64(generation))
            device = device.with(acceptance.secret)
        }
    }

    @Test(
        "N-18 R-02 N-28 V-32 any earlier secret is recognised, however old",
        arguments: [0, 1, 5, 9])
    func earlier(generation: Int) async throws {
        let fixture = try VerifierFixture()
        var device = try await fixture.enrolledDevice()
        var secrets = [device]
        for turn in 1...10 {
            let acceptance = try #require(
                try await fixture.login(device, nonce: UInt8(turn)).acceptance)
            device = device.with(acceptance.secret)
            secrets.append(device)
        }
        let size = try #require(await fixture.store.credential(device.credential)).body.count
        #expect(size < 400, "the row does not grow with the logins")
        // Generation 9 is current, and generation 10 is its successor. Each nonce is new.
        #expect(try await fixture.login(secrets[generation], nonce: 99).wipe == .reuseDetected)
        #expect(try await fixture.login(device, nonce: 98).wipe == .reuseDetected)
    }

    @Test("if the policy counts secrets never issued, three in a row revoke the credential")
    func foreign() async throws {
        let fixture = try VerifierFixture(policy: Policy(countsForeignSecrets: true))
        let device = try await fixture.enrolledDevice()
        for turn in UInt8(1)...2 {
            let outcome = try await fixture.login(device.withSecretMadeUp(), nonce: turn)
            #expect(outcome.isDenied)
            #expect(outcome.wipe == nil)
        }
        // A valid secret interrupts the series: only consecutive failures count.
        let acceptance = try #require(try await fixture.login(device, nonce: 3).acceptance)
        for turn in UInt8(4)...5 {
            #expect(try await fixture.login(device.withSecretMadeUp(), nonce: turn).wipe == nil)
        }
        let third = try await fixture.login(device.withSecretMadeUp(), nonce: 6)
        #expect(third.wipe == .tooManyFailures)
        #expect(
            try await fixture.login(device.with(acceptance.secret), nonce: 7).wipe
                == .tooManyFailures)
    }

    @Test("O-08 V-01 invented secrets never revoke a credential; reuse of a real one does")
    func foreignNotCounted() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        for turn in 1...UInt8(3 * Policy.secretFailures) {
            let outcome = try await fixture.login(device.withSecretMadeUp(), nonce: turn)
            #expect(outcome.isDenied)
            #expect(outcome.wipe == nil)
        }
        let reasons = try await fixture.events().filter { $0.kind == .denied }.map(\.reason)
        #expect(reasons == Array(repeating: .wrong, count: 3 * Policy.secretFailures))
        #expect(try await fixture.login(device, nonce: 99).acceptance != nil)
        #expect(try await fixture.login(device, nonce: 98).wipe == .reuseDetected)
        #expect(try await fixture.login(device, nonce: 99).wipe == .reuseDetected)
    }

    @Test("a secret of another credential is denied")
    func otherCredential() async throws {
        let fixture = try VerifierFixture()
        let one = try await fixture.enrolledDevice()
        let other = try await fixture.enrolledDevice()
        let swapped = TestDevice(credential: other.credential, secret: one.secret)
        let outcome = try await fixture.login(swapped, nonce: 1)
        #expect(outcome.isDenied)
        #expect(outcome.wipe == nil)
    }

    @Test("a secret with any byte changed is denied", arguments: [0, 31, 32, 39, 40, 55])
    func spoiled(index: Int) async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        var bytes = device.secret.bytes.known
        bytes[index] ^= 1
        let spoiled = device.with(Token(.secret, SecretBytes(copying: bytes.span)))
        let outcome = try await fixture.login(spoiled, nonce: 1)
        #expect(outcome.isDenied)
        #expect(outcome.wipe == nil)
    }

    @Test("R-05 N-38 a secret is accepted until it has been unused for 90 days, and then denied")
    func idle() async throws {
        let day: Int64 = 86_400
        for isAboutToExpire in [false, true] {
            let fixture = try VerifierFixture()
            let device = try await fixture.enrolledDevice()
            fixture.clock.now = fixture.clock.now.adding(
                milliseconds: 90 * day * 1_000 - (isAboutToExpire ? 0 : 1))
            let outcome = try await fixture.login(device, nonce: 1)
            #expect((outcome.acceptance == nil) == isAboutToExpire)
            #expect(outcome.wipe == nil)
            let last = try #require(try await fixture.events().last)
            #expect(last.kind == (isAboutToExpire ? .denied : .accepted))
            #expect(last.reason == (isAboutToExpire ? .idle : nil))
        }
    }

    @Test("O-07 a clock that jumps ahead and back causes no wipe and no revocation")
    func leap() async throws {
        for days in [91, 366, 36_500] as [Int64] {
            let fixture = try VerifierFixture()
            let fresh = try await fixture.enrolledDevice()
            let used = try await fixture.enrolledDevice()
            let login = try #require(try await fixture.login(used, nonce: 1).acceptance)
            let grant = try await fixture.ticket()
            fixture.clock.advance(seconds: days * 86_400)
            for device in [fresh, used, used.with(login.secret)] {
                // The nonce of the earlier login is sent, as by a device that lost the response.
                let outcome = try await fixture.login(device, nonce: 1)
                #expect(outcome.isDenied)
                #expect(outcome.wipe == nil)
                #expect(try await fixture.summary(device.credential).state == .active)
            }
            let gone = try await fixture.verifier.prune(keepingEventsFor: 400 * 86_400_000)
            #expect(
                gone
                    == PruningOutcome())
            fixture.clock.advance(seconds: -days * 86_400)
            #expect(try await fixture.login(fresh, nonce: 1).acceptance != nil)
            #expect(try await fixture.login(used.with(login.secret), nonce: 2).acceptance != nil)
            #expect(try await fixture.verifier.redeemLogin(login.login).value != nil)
            #expect(try await fixture.verifier.redeemEnrolment(grant.ticket).value != nil)
            #expect(try await fixture.count(.wiped) == 0)
            #expect(try await fixture.count(.revoked) == 0)
        }
    }

    @Test("O-07 reuse of an expired secret is denied, and revokes nothing until the clock is right")
    func reuseOfExpired() async throws {
        let fixture = try VerifierFixture()
        let first = try await fixture.enrolledDevice()
        let second = first.with(
            try #require(try await fixture.login(first, nonce: 1).acceptance).secret)
        _ = try #require(try await fixture.login(second, nonce: 2).acceptance)
        fixture.clock.advance(seconds: 91 * 86_400)
        // An honest device that lost the last response is denied and then presents the previous
        // secret. The server recognises this secret as an earlier one.
        #expect(try await fixture.login(second, nonce: 2).isDenied)
        #expect(try await fixture.login(first, nonce: 1).wipe == nil)
        #expect(try await fixture.login(second, nonce: 3).wipe == nil)
        #expect(try await fixture.summary(first.credential).state == .active)
        fixture.clock.advance(seconds: -91 * 86_400)
        #expect(try await fixture.login(second, nonce: 3).wipe == .reuseDetected)
        #expect(try await fixture.summary(first.credential).state == .revoked)
    }

    @Test("R-08 a secret in daily use expires after a year")
    func absolute() async throws {
        let fixture = try VerifierFixture()
        var device = try await fixture.enrolledDevice()
        for day in 1...364 {
            fixture.clock.advance(seconds: 86_400)
            let outcome = try await fixture.login(device, nonce: UInt8(day % 251))
            device = device.with(try #require(outcome.acceptance).secret)
        }
        fixture.clock.now = fixture.clock.now.adding(milliseconds: 86_399_999)
        device = device.with(
            try #require(try await fixture.login(device, nonce: 252).acceptance).secret)
        fixture.clock.now = fixture.clock.now.adding(milliseconds: 1)
        #expect(try await fixture.login(device, nonce: 253).isDenied)
        #expect(try await fixture.events().last?.reason == .tooOld)
    }

    @Test("N-39 V-14 a holder of a revoked credential is told to wipe it; other senders are not")
    func revoked() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let login = try #require(try await fixture.login(device, nonce: 1).acceptance)
        #expect(try await fixture.verifier.revoke(device.credential) == .done)
        #expect(try await fixture.verifier.revoke(device.credential) == .done)
        #expect(try await fixture.verifier.redeemLogin(login.login).value == nil)
        #expect(try await fixture.login(device, nonce: 2).wipe == .revoked)
        let stranger = device.with(
            Token(.secret, Randomness.secret(count: SecretParts.count)))
        let outcome = try await fixture.login(stranger, nonce: 3)
        #expect(outcome.isDenied)
        #expect(outcome.wipe == nil)
    }

    @Test("N-39 a login ticket put back in the database is refused once the credential is revoked")
    func ticketPutBack() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let login = try #require(try await fixture.login(device, nonce: 1).acceptance).login
        let digest = await fixture.keys.ring.lookup.digest(of: login.bytes, as: .loginTicket)
        let row = try #require(try await fixture.store.ticket(digest: digest))
        #expect(try await fixture.verifier.revoke(device.credential) == .done)
        #expect(try await fixture.store.commit([.insertTicket(row)]) == .done)
        #expect(try await fixture.verifier.redeemLogin(login).value == nil)
        #expect(try await fixture.events().last?.reason == .revoked)
    }

    @Test("N-39 a login ticket put back in the database after redemption is refused")
    func ticketPutBackInUse() async throws {
        let fixture = try VerifierFixture()
        var device = try await fixture.enrolledDevice()
        var logins: [Token] = []
        var rows: [TicketRow] = []
        for nonce: UInt8 in 1...3 {
            let answer = try #require(try await fixture.login(device, nonce: nonce).acceptance)
            device = TestDevice(credential: device.credential, secret: answer.secret)
            logins.append(answer.login)
            let digest = await fixture.keys.ring.lookup.digest(
                of: answer.login.bytes, as: .loginTicket)
            rows.append(try #require(try await fixture.store.ticket(digest: digest)))
        }
        // Open tickets can be redeemed in any order.
        for login in [logins[1], logins[0]] {
            #expect(try await fixture.verifier.redeemLogin(login).value != nil)
        }
        for index in [0, 1] {
            #expect(try await fixture.store.commit([.insertTicket(rows[index])]) == .done)
            #expect(try await fixture.verifier.redeemLogin(logins[index]).value == nil)
            #expect(try await fixture.events().last?.reason == .spent)
        }
        #expect(try await fixture.verifier.redeemLogin(logins[2]).value != nil)
        #expect(try await fixture.verifier.redeemLogin(logins[2]).value == nil)
        #expect(try await fixture.login(device, nonce: 4).acceptance != nil)
    }

    @Test("the last eight open login tickets of a credential can be redeemed")
    func openLogins() async throws {
        let fixture = try VerifierFixture()
        var device = try await fixture.enrolledDevice()
        var logins: [Token] = []
        for nonce: UInt8 in 1...9 {
            let answer = try #require(try await fixture.login(device, nonce: nonce).acceptance)
            device = TestDevice(credential: device.credential, secret: answer.secret)
            logins.append(answer.login)
        }
        #expect(try await fixture.verifier.redeemLogin(logins[0]).value == nil)
        for login in logins.dropFirst() {
            #expect(try await fixture.verifier.redeemLogin(login).value != nil)
        }
    }

    @Test("each device of a closed account is told of the closure")
    func accountClosed() async throws {
        let fixture = try VerifierFixture()
        let devices = [try await fixture.enrolledDevice(), try await fixture.enrolledDevice()]
        #expect(try await fixture.verifier.closeAccount(of: fixture.alice) == 2)
        for device in devices {
            #expect(try await fixture.login(device, nonce: 1).wipe == .accountClosed)
        }
        #expect(try await fixture.verifier.closeAccount(of: fixture.alice) == 0)
    }

    @Test("a login ticket is valid for exactly one minute", arguments: [false, true])
    func loginTicket(isAboutToExpire: Bool) async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let acceptance = try #require(try await fixture.login(device, nonce: 1).acceptance)
        fixture.clock.now = fixture.clock.now.adding(
            milliseconds: isAboutToExpire ? 60_000 : 59_999)
        let redeemed = try await fixture.verifier.redeemLogin(acceptance.login)
        #expect((redeemed.value == nil) == isAboutToExpire)
    }

    @Test(
        "N-34 V-07 an enrolment ticket is valid once, for exactly ten minutes",
        arguments: [false, true])
    func enrolmentTicket(isAboutToExpire: Bool) async throws {
        let fixture = try VerifierFixture()
        let grant = try await fixture.ticket()
        fixture.clock.now = fixture.clock.now.adding(
            milliseconds: isAboutToExpire ? 600_000 : 599_999)
        let first = try await fixture.verifier.redeemEnrolment(grant.ticket, name: "phone")
        #expect((first.value == nil) == isAboutToExpire)
        #expect(try await fixture.verifier.redeemEnrolment(grant.ticket).value == nil)
        if !isAboutToExpire {
            let summary = try await fixture.summary(grant.credential)
            #expect(summary.state == .active)
            #expect(summary.name == "phone")
        }
    }

    @Test("N-19 the store contains only digests of issued tickets and secrets")
    func digestsOnly() async throws {
        let fixture = try VerifierFixture()
        let grant = try await fixture.ticket()
        let secret = try #require(
            try await fixture.verifier.redeemEnrolment(grant.ticket).value
        ).secret
        let device = TestDevice(credential: grant.credential, secret: secret)
        let login = try #require(try await fixture.login(device, nonce: 1).acceptance)
        let body = try #require(await fixture.store.credential(grant.credential)).body
        for token in [grant.ticket, secret, login.secret, login.login] {
            #expect(!body.contains(token.bytes.known.prefix(32)))
        }
        #expect(try await fixture.verifier.revoke(grant.credential) == .done)
        let revoked = try #require(await fixture.store.credential(grant.credential))
        #expect(revoked.keyID == nil)
        #expect(revoked.body.count < body.count - 100, "the digests are deleted")
    }
}

extension Array where Element == UInt8 {
    func contains(_ other: ArraySlice<UInt8>) -> Bool {
        indices.contains { self[$0...].starts(with: other) }
    }
}
