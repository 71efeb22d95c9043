import Testing
import WatchwordCryptography

@testable import Verification

/// Registrations of device keys that are sent again because the device lost the response.
@Suite("Repeated registrations of device keys")
struct RepeatedRegistrationTests {
    private let fixture: VerifierFixture
    private let keys: DeviceKeys
    private let device: TestDeviceKey

    init() throws {
        fixture = try VerifierFixture()
        keys = DeviceKeys(fixture.verifier, audiences: ["https://login.example"])
        device = try TestDeviceKey()
    }

    private func grant() async throws -> DeviceKeyGrant {
        let grant = try await keys.enrol(DeviceKeyEnrolment(for: fixture.alice)).granted()
        return grant
    }

    @Test("K-77 K-80 a device that repeats its registration learns that its key is active")
    func repeatedRegistration() async throws {
        let grant = try await self.grant()
        #expect(
            try await keys.register(device, grant.ticket, custody: .tpm)
                == .accepted(grant.credential, .tpm))
        // The request comes later than any recorded response, when the ticket's row no longer
        // exists.
        fixture.clock.now = fixture.clock.now.adding(seconds: 86_400 + 1)
        try await fixture.store.pruneAll(Pruning(now: fixture.clock.now))
        let events = try await fixture.events().count
        _ = await fixture.store.takeCalls()
        let repeated = DeviceKeyRegistration.repeated(grant.credential, .tpm)
        #expect(try await keys.register(device, grant.ticket) == repeated)
        #expect(await fixture.store.takeCalls() == [.readTicket, .readFingerprint])
        #expect(try await fixture.events().count == events)
        #expect(try await fixture.summary(grant.credential).state == .active)

        // Only a holder of the private key learns of the credential.
        let other = try TestDeviceKey()
        let good = try device.enrolment(grant.ticket)
        for signature in [
            [], try other.enrolment(grant.ticket), Array(good.dropLast()), good + [0],
            [UInt8](repeating: 1, count: 64),
        ] {
            #expect(
                try await keys.register(device, grant.ticket, signature: signature)
                    == .denied(.unknown))
        }
        #expect(
            try await keys.register(device, grant.ticket, point: other.key.point)
                == .denied(.unknown))
        for point in [[], [0], Array(device.key.point.dropFirst())] as [[UInt8]] {
            #expect(
                try await keys.register(device, grant.ticket, point: point) == .denied(.unknown))
        }
        #expect(try await keys.register(other, grant.ticket) == .denied(.unknown))
        var changed = device
        changed.audience = "https://evil.example"
        #expect(try await keys.register(changed, grant.ticket) == .denied(.unknown))
        changed = device
        changed.sentPresence = .enforced
        #expect(try await keys.register(changed, grant.ticket) == .denied(.unknown))

        // A valid ticket does not register the key a second time.
        let second = try await self.grant()
        #expect(try await keys.register(device, second.ticket) == .denied(.credentialKnown))
        _ = try await fixture.verifier.revoke(grant.credential)
        #expect(try await keys.register(device, grant.ticket) == .denied(.unknown))
    }
}
