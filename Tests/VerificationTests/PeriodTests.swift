import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Time steps")
struct PeriodTests {
    @Test(
        "T-03 a credential's time step is in its URI, and codes of another time step are refused",
        arguments: [30, 60])
    func otherPeriod(period: Int) async throws {
        let fixture = try VerifierFixture()
        // Clock and key are fixed, so that no two codes can be equal by chance.
        let key = SecretBytes(text: "a key of twenty byte")
        let authenticator = try await fixture.enrol(.time(period: period), key: key)
        let step = try #require(TimeStep(period: Int64(period)))
        #expect(authenticator.entry.movingFactor == .time(step))
        let row = try #require(await fixture.store.credential(authenticator.credential))
        guard case .time(let password) = try CredentialRecord(row).material else {
            throw BenchError.refused
        }
        #expect(password.seed.parameters.period == period)
        let first = try authenticator.code(at: fixture.clock.now)
        let confirmed = try await fixture.verifier.confirm(authenticator.credential, code: first)
        #expect(confirmed.acceptance != nil)
        fixture.clock.advance(seconds: 3_000)
        let other = period == 30 ? 60 : 30
        let otherStep = UInt64(fixture.clock.now.seconds) / UInt64(other)
        for near in otherStep - 1...otherStep + 1 {
            #expect(try await fixture.verify(authenticator.code(near)).denial == .wrong)
        }
        let own = try authenticator.code(at: fixture.clock.now)
        #expect(try await fixture.verify(own).acceptance != nil)
    }
}
