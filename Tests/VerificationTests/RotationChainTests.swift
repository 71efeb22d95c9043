import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

/// The row of a chain of secrets, and the effect of two holders with the same secret.
@Suite("Chains of secrets")
struct RotationChainTests {
    private func chain(_ fixture: VerifierFixture, _ device: TestDevice) async throws -> SecretChain
    {
        let row = try #require(await fixture.store.credential(device.credential))
        guard case .secret(let chain) = try CredentialRecord(row).material else {
            throw BenchError.refused
        }
        return chain
    }

    @Test(
        "R-01 R-03 each use issues a new secret and retires the previous one in the same row",
        arguments: 1...4)
    func rotation(turns: Int) async throws {
        let fixture = try VerifierFixture()
        var devices = [try await fixture.enrolledDevice()]
        let key = await fixture.keys.ring.current
        let derivation = SecretDerivation(
            credential: devices[0].credential, lookup: await fixture.keys.ring.lookup, meter: nil)
        func digest(_ number: Int) -> [UInt8] {
            derivation.digest(of: SecretParts(devices[number].secret), under: key)
        }
        for turn in 1...turns {
            let acceptance = try #require(
                try await fixture.login(devices[turn - 1], nonce: UInt8(turn)).acceptance)
            #expect(acceptance.generation == UInt64(turn))
            devices.append(devices[0].with(acceptance.secret))
            // One row serves all generations: it records the current secret and its successor.
            let chain = try await chain(fixture, devices[0])
            #expect(chain.generation == UInt64(turn - 1))
            let (current, next) = (digest(turn - 1), digest(turn))
            #expect(chain.digest == current)
            #expect(chain.handedOut?.digest == next)
        }
        #expect(Set(devices.map { $0.secret.bytes.known.prefix(32) }).count == turns + 1)
        // A secret is retired as soon as its successor has been used.
        let newest = try #require(try await fixture.login(devices[turns], nonce: 90).acceptance)
        #expect(try await fixture.login(devices[turns - 1], nonce: 91).wipe == .reuseDetected)
        let next = devices[0].with(newest.secret)
        #expect(try await fixture.login(next, nonce: 92).wipe == .reuseDetected)
        // The credential stays on record after its end.
        let summary = try await fixture.summary(devices[0].credential)
        #expect(summary.state == .revoked && summary.endReason == .reuseDetected)
    }

    /// The events and the responses when two holders have the same secret.
    private struct Finding: Equatable {
        var kinds: [Event.Kind] = []
        var reasons: [Event.Reason?] = []
        var notifies: [Bool] = []
        var answers: [WipeReason?] = []
    }

    /// Lets the owner and the holder of a copy sign in alternately until the server detects the
    /// reuse.
    private func finding(ownerFirst: Bool) async throws -> Finding {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let nonces: [UInt8] = ownerFirst ? [1, 2] : [2, 1]
        var finding = Finding()
        for nonce in nonces + nonces {
            finding.answers.append(try await fixture.login(device, nonce: nonce).wipe)
        }
        for event in try await fixture.events() {
            finding.kinds.append(event.kind)
            finding.reasons.append(event.reason)
            finding.notifies.append(event.isNotification)
        }
        return finding
    }

    @Test("R-09 events and responses are the same whichever of two holders is first")
    func symmetry() async throws {
        let one = try await finding(ownerFirst: true)
        #expect(one.answers == [nil, .reuseDetected, .reuseDetected, .reuseDetected])
        #expect(one.kinds.contains(.revoked) && one.reasons.contains(.reuseDetected))
        #expect(try await finding(ownerFirst: false) == one)
    }

    @Test("R-09 no event, reason or response contains a word that assigns blame")
    func words() {
        let words =
            Event.Kind.allCases.map(\.rawValue) + Event.Reason.allCases.map(\.rawValue)
            + WipeReason.allCases.map(\.rawValue)
        let blame = [
            "thief", "theft", "stole", "attack", "hack", "intru", "compromis", "fraud", "malic",
            "impost", "owner", "victim", "guilt", "suspect", "copied",
        ]
        for word in words {
            for part in blame { #expect(!word.lowercased().contains(part), "\(word)") }
        }
        #expect(words.contains("reuseDetected") && words.contains("reuse-detected"))
    }
}
