import TestSupport
import Testing
@testable import Verification
import WatchwordCryptography

@Suite("Faults and thieves")
struct FaultTests {
    /// The fault of one login.
    private enum Fault: CaseIterable {
        case none
        case killedBeforeWriting, killedAfterWriting
        case requestLost, requestDoubled, requestDelayed
        case serverKilledBeforeCommit, serverKilledAfterCommit
        case replyLost, replyDelayed, killedBeforeKeeping
    }

    /// An owner's device, the server, and the network between them.
    private final class Scenario {
        let fixture: VerifierFixture
        let store: FaultyStore
        var device: SimulatedDevice
        var generator: SeededGenerator
        /// Requests and responses that the network delays.
        var heldRequests: [SimulatedDevice.Request] = []
        var heldReplies: [(LoginOutcome, SimulatedDevice.Request)] = []
        var faults = 0
        var logins = 0

        init(seed: UInt64) async throws {
            generator = SeededGenerator(seed: seed)
            var faulty: FaultyStore?
            fixture = try VerifierFixture(wrapping: { memory in
                let store = FaultyStore(memory)
                faulty = store
                return store
            })
            store = try #require(faulty)
            device = try await Scenario.enrol(fixture)
        }

        static func enrol(_ fixture: VerifierFixture) async throws -> SimulatedDevice {
            let enrolled = try await fixture.enrolledDevice()
            return SimulatedDevice(credential: enrolled.credential, secret: enrolled.secret)
        }

        func nonce() throws -> RotationNonce {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
            return try #require(RotationNonce(bytes: bytes))
        }

        /// The server's response; `nil` if the server stopped before sending it.
        func send(_ request: SimulatedDevice.Request) async throws -> LoginOutcome? {
            do {
                return try await fixture.verifier.login(
                    request.credential, secret: request.secret, nonce: request.nonce)
            } catch VerifierError.store { return nil }
        }

        /// One login by the owner, with one fault.
        func step(_ fault: Fault) async throws {
            if fault != .none { faults += 1 }
            if fault == .killedBeforeWriting { return }
            device.prepare(try nonce())
            if fault == .killedAfterWriting || fault == .requestLost { return }
            let request = try #require(device.request)
            if fault == .requestDelayed {
                heldRequests.append(request)
                return
            }
            if fault == .serverKilledBeforeCommit { await store.die(.beforeCommit) }
            if fault == .serverKilledAfterCommit { await store.die(.afterCommit) }
            guard let outcome = try await send(request) else { return }
            if fault == .requestDoubled {
                let second = try #require(try await send(request))
                #expect(second.verification == outcome.verification)
            }
            switch fault {
            case .replyLost, .killedBeforeKeeping: return
            case .replyDelayed: heldReplies.append((outcome, request))
            default:
                if outcome.acceptance != nil { logins += 1 }
                device.receive(outcome, to: request)
            }
        }

        /// Delivers all delayed messages, in random order.
        func release() async throws {
            for request in heldRequests.shuffled(using: &generator) {
                guard let outcome = try await send(request) else { continue }
                heldReplies.append((outcome, request))
            }
            heldRequests = []
            for (outcome, request) in heldReplies.shuffled(using: &generator) {
                device.receive(outcome, to: request)
            }
            heldReplies = []
        }
    }

    @Test("R-06 after 10,000 random faults without reordering, the owner can still sign in")
    func faults() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("faults: seed \(seed)")
        let scenario = try await Scenario(seed: seed)
        let faults = Fault.allCases.filter { $0 != .requestDelayed }
        while scenario.faults < 10_000 {
            for _ in 0..<Int.random(in: 1...20, using: &scenario.generator) {
                try await scenario.step(
                    try #require(faults.randomElement(using: &scenario.generator)))
            }
            // Late responses must not corrupt the device's state.
            if Bool.random(using: &scenario.generator) { try await scenario.release() }
            // Then the owner signs in without a fault.
            let before = scenario.logins
            try await scenario.step(.none)
            #expect(scenario.logins == before + 1, "seed \(seed), after \(scenario.faults) faults")
            #expect(scenario.device.wiped == nil, "seed \(seed), after \(scenario.faults) faults")
            guard scenario.logins == before + 1 else { return }
        }
    }

    @Test("R-06 requests that arrive late or out of order lead to a login or a wipe for reuse")
    func reordering() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("reordering: seed \(seed)")
        let scenario = try await Scenario(seed: seed)
        var wipes = 0
        while scenario.faults < 5_000 {
            for _ in 0..<Int.random(in: 1...8, using: &scenario.generator) {
                try await scenario.step(
                    try #require(Fault.allCases.randomElement(using: &scenario.generator)))
            }
            try await scenario.release()
            let before = scenario.logins
            if scenario.device.wiped == nil { try await scenario.step(.none) }
            if let reason = scenario.device.wiped {
                // A late old secret looks like a thief's secret, so the credential must be enrolled
                // again.
                #expect(reason == .reuseDetected, "seed \(seed)")
                wipes += 1
                scenario.device = try await Scenario.enrol(scenario.fixture)
            } else {
                #expect(
                    scenario.logins == before + 1, "seed \(seed), after \(scenario.faults) faults")
            }
        }
        print("reordering: \(scenario.faults) faults, \(scenario.logins) logins, \(wipes) wipes")
    }

    /// `ownerLogins` counts the owner's logins between the copy and the thief's first use.
    @Test(
        "R-02 R-04 R-07 a copy is detected by the next use, whether the owner or the thief is first",
        arguments: [0, 1, 2, 5], [false, true])
    func thief(ownerLogins: Int, hasPendingNonce: Bool) async throws {
        for turn in 0..<20 {
            let scenario = try await Scenario(seed: UInt64(turn))
            for _ in 0..<turn % 5 { try await scenario.step(.none) }
            // The copy may contain the nonce of a request that was never answered.
            if hasPendingNonce { try await scenario.step(.requestLost) }
            var copy = scenario.device
            for _ in 0..<ownerLogins { try await scenario.step(.none) }
            // With the owner's nonce, the thief receives the owner's response. The next use reveals
            // the copy.
            for isOwner in [false, true, false, true] {
                if isOwner {
                    if scenario.device.wiped == nil { try await scenario.step(.none) }
                } else if copy.wiped == nil {
                    copy.prepare(try scenario.nonce())
                    let request = try #require(copy.request)
                    copy.receive(try #require(try await scenario.send(request)), to: request)
                }
            }
            let summary = try await scenario.fixture.summary(scenario.device.credential)
            #expect(summary.state == .revoked, "turn \(turn)")
            #expect(summary.endReason == .reuseDetected)
            try await scenario.step(.none)
            #expect(scenario.device.wiped == .reuseDetected)
        }
    }

    @Test("R-07 if the owner and the thief sign in together, one succeeds, then both are denied")
    func sameMoment() async throws {
        for turn in 0..<20 {
            let scenario = try await Scenario(seed: UInt64(turn))
            var copy = scenario.device
            copy.prepare(try scenario.nonce())
            scenario.device.prepare(try scenario.nonce())
            let requests = [
                try #require(scenario.device.request), try #require(copy.request),
            ]
            let fixture = scenario.fixture
            let outcomes = try await withThrowingTaskGroup(of: LoginOutcome.self) { group in
                for request in requests {
                    group.addTask {
                        try await fixture.verifier.login(
                            request.credential, secret: request.secret, nonce: request.nonce)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.filter { $0.acceptance != nil }.count == 1)
            #expect(outcomes.filter { $0.wipe == .reuseDetected }.count == 1)
            #expect(try await fixture.summary(copy.credential).state == .revoked)
        }
    }
}

/// A database that lost its last commits, as can happen if a standby is promoted too early.
@Suite("Lost commits")
struct LostCommitTests {
    /// Replaces the credential's row with an older one.
    private func rolledBack(_ row: CredentialRow, in fixture: VerifierFixture) async throws {
        let newer = try #require(await fixture.store.credential(row.id))
        var restored = row
        restored.version = newer.version + 1
        #expect(try await fixture.store.commit([.updateCredential(restored)]) == .done)
    }

    private func row(of device: TestDevice, in fixture: VerifierFixture) async throws
        -> CredentialRow
    {
        try #require(await fixture.store.credential(device.credential))
    }

    @Test("R-06 a successor lost by the database causes no wipe and is reissued for the same nonce")
    func oneLost() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let before = try await row(of: device, in: fixture)
        let lost = try #require(try await fixture.login(device, nonce: 1).acceptance)
        try await rolledBack(before, in: fixture)
        let early = try await fixture.login(device.with(lost.secret), nonce: 2)
        #expect(early.isDenied)
        #expect(early.wipe == nil)
        // The device then presents the previous secret with its original nonce.
        let again = try #require(try await fixture.login(device, nonce: 1).acceptance)
        #expect(again.secret.bytes == lost.secret.bytes)
        #expect(try await fixture.login(device.with(again.secret), nonce: 3).acceptance != nil)
    }

    @Test("R-07 a fork after a lost commit is detected by its different nonce")
    func fork() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let before = try await row(of: device, in: fixture)
        let owner = try #require(try await fixture.login(device, nonce: 1).acceptance)
        try await rolledBack(before, in: fixture)
        #expect(try await fixture.login(device, nonce: 2).acceptance != nil)
        let second = try await fixture.login(device.with(owner.secret), nonce: 3)
        #expect(second.wipe == .reuseDetected)
    }

    @Test("a device is denied until the database has its lost commits again")
    func manyLost() async throws {
        let fixture = try VerifierFixture()
        var device = try await fixture.enrolledDevice()
        let before = try await row(of: device, in: fixture)
        for turn in UInt8(1)...3 {
            let acceptance = try #require(try await fixture.login(device, nonce: turn).acceptance)
            device = device.with(acceptance.secret)
        }
        let right = try await row(of: device, in: fixture)
        try await rolledBack(before, in: fixture)
        for turn in 4...UInt8(3 + 2 * Policy.secretFailures) {
            let outcome = try await fixture.login(device, nonce: turn)
            #expect(outcome.isDenied)
            #expect(outcome.wipe == nil)
        }
        #expect(try await fixture.summary(device.credential).state == .active)
        try await rolledBack(right, in: fixture)
        #expect(try await fixture.login(device, nonce: 4).acceptance != nil)
    }

    @Test("a device whose last login was lost can sign in with its previous secret")
    func secretBefore() async throws {
        let fixture = try VerifierFixture()
        let device = try await fixture.enrolledDevice()
        let first = try #require(try await fixture.login(device, nonce: 1).acceptance)
        let before = try await row(of: device, in: fixture)
        let second = try #require(
            try await fixture.login(device.with(first.secret), nonce: 2).acceptance)
        try await rolledBack(before, in: fixture)
        let forgotten = device.with(second.secret)
        for turn in UInt8(3)...4 {
            #expect(try await fixture.login(forgotten, nonce: turn).wipe == nil)
        }
        #expect(
            try await fixture.login(device.with(first.secret), nonce: 2).acceptance != nil)
        #expect(try await fixture.login(forgotten, nonce: 5).acceptance != nil)
    }
}
