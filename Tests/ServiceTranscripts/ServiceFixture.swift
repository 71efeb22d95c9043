internal import LocalSockets
internal import PasskeyVerification
internal import Synchronization
package import Verification
package import VerificationService
package import WatchwordCryptography

/// A service with a store, a clock and API keys for a test.
package final class ServiceFixture: Sendable {
    /// The clock of the verifier and the service.
    package let clock: TestClock
    /// The store, which a test can make fail.
    package let store: FailingStore
    /// The keys that seal the rows.
    package let keyRing: KeyRing
    package let verifier: Verifier
    package let service: Service
    /// API keys (``makeKeys(_:)``).
    package let keys: [String: SecretBytes]
    private let dependencies: Dependencies

    private final class Dependencies: Sendable {
        let lines = Mutex<[LogLine]>([])
        let readinessChanges = Mutex<[String?]>([])
        let sprayingNotices = Mutex(0)
        let clockState = Mutex(ClockState.synchronized(maximumError: 1))
    }

    /// Creates a service with an empty store.
    ///
    /// - Parameter wrap: replaces or wraps the in-memory store.
    package init(
        addressRate: AddressRate = .standard, trustedProxies: TrustedProxies = .none,
        policy: Policy = .standard, pages: PageSettings? = PageSettings(),
        passkeys: PasskeySettings? = nil, tpmRoots: TrustAnchors? = nil,
        usesTLS: Bool = false, randomness: RandomSource = .system,
        wrapping wrap: (MemoryStore, KeyRing) throws -> any VerificationStore = { store, _ in store
        }
    ) async throws {
        let clock = TestClock()
        let keyRing = try KeyRing.make()
        let memory = MemoryStore(
            node: Randomness.bytes(count: 16), key: keyRing.auditKey)
        let store = FailingStore(try wrap(memory, keyRing))
        let verifier = Verifier(
            store: store, keys: keyRing, policy: policy, randomness: randomness,
            clock: { clock.now })
        let dependencies = Dependencies()
        self.clock = clock
        self.keyRing = keyRing
        self.store = store
        self.verifier = verifier
        self.dependencies = dependencies
        var settings = ServiceSettings(clock: ClockRequirement(profile: policy.profile))
        settings.addressRate = addressRate
        settings.trustedProxies = trustedProxies
        settings.pages = pages
        settings.passkeys = try passkeys ?? PasskeySettings.forTests()
        settings.audiences = [SampleDeviceKey.audience]
        settings.tpmRoots = tpmRoots
        settings.usesTLS = usesTLS
        settings.realm = Realm("mill.example")
        var replaced = ServiceDependencies(
            now: { clock.now }, clockState: { dependencies.clockState.withLock { $0 } },
            log: { line in dependencies.lines.withLock { $0.append(line) } })
        replaced.instant = { clock.instant }
        replaced.accountName = { [1_000: "alice", 1_001: "bob"][$0] }
        replaced.readinessChanged = { failure in
            dependencies.readinessChanges.withLock { $0.append(failure?.cause) }
        }
        replaced.sprayingNoticed = { dependencies.sprayingNotices.withLock { $0 += 1 } }
        service = Service(verifier: verifier, settings: settings, dependencies: replaced)
        keys = try await Self.makeKeys(verifier)
    }

    /// Adds clients, and returns their API keys by name: one per scope with its name, `all`, `none`
    /// without any scope, and `limited` with all scopes on the subjects that begin with `shop/`.
    package static func makeKeys(_ verifier: Verifier) async throws -> [String: SecretBytes] {
        let all = Scope.allCases.map(\.rawValue)
        var clients: [(name: String, scopes: [String], limit: String?)] = [
            ("all", all, nil), ("none", [], nil), ("limited", all, "shop/"),
        ]
        for scope in all { clients.append((scope, [scope], nil)) }
        var keys: [String: SecretBytes] = [:]
        for (name, scopes, limit) in clients {
            keys[name] = try await verifier.addClient(
                named: name, scopes: scopes, limitedTo: limit.flatMap { SubjectPrefix($0) }
            )?.key.text
        }
        return keys
    }

    /// The log so far.
    package var log: [LogLine] { dependencies.lines.withLock { $0 } }

    /// The cause of each readiness change reported so far; `nil` when the server became ready.
    package var readinessChanges: [String?] { dependencies.readinessChanges.withLock { $0 } }

    /// The number of reports that codes are denied for many subjects.
    package var sprayingNotices: Int { dependencies.sprayingNotices.withLock { $0 } }

    /// Sets the clock state that the kernel reports.
    package func setClockState(_ state: ClockState) {
        dependencies.clockState.withLock { $0 = state }
    }
}

extension PasskeySettings {
    /// The passkeys of `mill.example`.
    package static func forTests(floor: PolicyFloor = .none) throws -> PasskeySettings {
        let origins = ["https://mill.example", "https://login.mill.example:8443"]
        return PasskeySettings(
            relyingParty: try RelyingParty(
                ids: ["mill.example"], name: "Paper Mill", origins: origins),
            origins: origins, floor: floor)
    }
}
