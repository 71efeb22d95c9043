package import Cryptography
internal import Synchronization
package import Verification
package import VerificationService

/// A service with a store, a clock and API keys of a test's own.
package final class ServiceWorld: Sendable {
    /// The clock of verifier and service.
    package let clock: TestClock
    /// What keeps everything; a ``FailingStore`` in front can refuse.
    package let store: FailingStore
    /// The keys that rows are sealed with.
    package let keyRing: KeyRing
    /// What decides.
    package let verifier: Verifier
    /// What answers.
    package let service: Service
    /// API keys: one for each scope by its name, `all`, and `none` without any scope.
    package let keys: [String: SecretBytes]
    private let surroundings: Surroundings

    private final class Surroundings: Sendable {
        let lines = Mutex<[LogLine]>([])
        let clockState = Mutex(ClockState.synchronized(maximalError: 1))
    }

    /// Makes a new world.
    ///
    /// - Parameter wrap: puts another store in the place of one in memory, or in front of it.
    package init(
        addressRate: AddressRate = .standard, trustedProxies: TrustedProxies = .none,
        policy: Policy = .standard,
        wrapping wrap: (MemoryStore, KeyRing) throws -> any VerificationStore = { store, _ in store
        }
    ) async throws {
        let clock = TestClock()
        let keyRing = try KeyRing.make()
        let memory = MemoryStore(
            node: try Randomness.bytes(count: 16), key: keyRing.auditKey)
        let store = FailingStore(try wrap(memory, keyRing))
        let verifier = Verifier(
            store: store, keys: keyRing, policy: policy, clock: { clock.now })
        let surroundings = Surroundings()
        self.clock = clock
        self.keyRing = keyRing
        self.store = store
        self.verifier = verifier
        self.surroundings = surroundings
        service = Service(
            verifier: verifier,
            settings: ServiceSettings(
                addressRate: addressRate, trustedProxies: trustedProxies,
                clock: ClockRequirement(profile: policy.profile)),
            surroundings: ServiceSurroundings(
                now: { clock.now }, instant: { clock.instant },
                clockState: { surroundings.clockState.withLock { $0 } },
                log: { line in surroundings.lines.withLock { $0.append(line) } }))
        var keys: [String: SecretBytes] = [:]
        for (name, scopes) in [("all", Scope.allCases), ("none", [])]
            + Scope.allCases.map({ ($0.rawValue, [$0]) })
        {
            let scopes = scopes.map(\.rawValue)
            keys[name] = try await verifier.addClient(named: name, scopes: scopes)?.key.text
        }
        self.keys = keys
    }

    /// What was logged so far.
    package var log: [LogLine] { surroundings.lines.withLock { $0 } }

    /// Lets the kernel say something else of its clock.
    package func setClockState(_ state: ClockState) {
        surroundings.clockState.withLock { $0 = state }
    }
}
