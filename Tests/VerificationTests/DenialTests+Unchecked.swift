import PasskeyVerification
import StoreContract
import TestSupport
import Testing

@testable import Verification

// Denials that an application causes without a check.
extension DenialTests {
    @Test("O-08 denials of finished registrations and step-ups are added up if nothing was checked")
    func ceremonies() async throws {
        let bench = try PasskeyFixture()
        let passkey = try TestPasskey()
        let grant = try await bench.begun()
        let response = try passkey.created(grant.options)
        let origin = Origin(address: "203.0.113.7", client: Self.shop)
        func again() async throws -> RegistrationOutcome? {
            try await bench.passkeys.finishRegistration(
                of: grant.credential, with: response, origin: origin)
        }
        guard case .accepted = try await again() else { throw BenchError.refused }
        for _ in 0..<9 { #expect(try await again() == .denied(.challenge)) }
        for credential in [grant.credential, .sample(9)] {
            for index in 0..<9 {
                let verification = try #require(
                    VerificationID(bytes: sampleBytes(index, count: 16)))
                let outcome = try await bench.passkeys.completeStepUp(
                    of: credential, for: verification, origin: origin)
                #expect(outcome == (credential == grant.credential ? .refused : .unknown))
            }
        }
        _ = try await bench.fixture.verifier.revoke(grant.credential)
        for _ in 0..<9 { #expect(try await again() == .denied(.revoked)) }
        try await bench.fixture.verifier.writeCountedDenials(atEnd: true)
        let counts = Dictionary(grouping: try await denials(bench.fixture), by: \.reason)
            .mapValues { $0.map(\.number) }
        #expect(counts == [.challenge: [nil, 8], .unknown: [nil, 17], .revoked: [nil, 8]])
    }

    @Test("O-08 an application's denials are added up only if nothing was checked")
    func checked() {
        let summed = Event.Reason.allCases.filter { reason in
            let denial = Event(.denied, reason: reason, time: .at(0))
            return DenialCounter.Sender(uncheckedIn: denial) != nil
        }
        #expect(
            Set(summed) == [
                .unknown, .challenge, .throttled, .disabled, .expired, .revoked, .otherAudience,
            ])
    }
}
