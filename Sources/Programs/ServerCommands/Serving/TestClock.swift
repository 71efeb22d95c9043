import CommandLineInterface
import Synchronization
import Verification
import VerificationService
import WatchwordCryptography
import WatchwordSystem

/// The time of a server for an application's tests, which write the seconds since 1970 to a file.
///
/// If the clock can be set, spent codes can be presented again. The keys and the store of such a
/// server are therefore in memory and end with it.
final class TestClock: Sendable {
    /// The clock of this process; `nil` for the system's.
    static var current: TestClock? { installed.withLock { $0 } }
    private static let installed = Mutex<TestClock?>(nil)

    private let path: String
    private let last: Mutex<UnixTime>

    /// The times that all formats can express, up to the year 9999.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799

    private init(path: String, first: UnixTime) {
        self.path = path
        last = Mutex(first)
    }

    /// Makes the file of `--test-clock` the clock of this process.
    ///
    /// - Returns: `true` if the option was given.
    static func install(_ arguments: ServerArguments) throws -> Bool {
        guard let path = arguments[.testClock] else { return false }
        try arguments.forbid(.testClock, .store)
        try arguments.forbid(.testClock, .keys)
        guard let first = try time(in: InputBytes.of(path, limit: 32)) else {
            throw UsageError.badValue(
                Option.testClock.name, expected: "a file with a time in whole seconds since 1970")
        }
        installed.withLock { $0 = TestClock(path: path, first: first) }
        return true
    }

    /// The time in the file; while a test is writing to it, the last valid time.
    var now: UnixTime {
        let bytes = ifPossible(try InputBytes.of(path, limit: 32))
        return last.withLock { last in
            if let bytes, let time = TestClock.time(in: bytes) { last = time }
            return last
        }
    }

    private static func time(in bytes: SecretBytes) -> UnixTime? {
        let text = bytes.withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) }
        guard let text, text.last == "\n", let seconds = Int64(text.dropLast()),
            times.contains(seconds)
        else { return nil }
        return UnixTime(seconds: seconds)
    }
}

extension ServerContext {
    /// A context whose keys and store are in memory, with a client for the tests.
    ///
    /// - Returns: the context, and the client's API key, which has all scopes.
    static func inMemory(
        _ places: ServerPaths, policy: Policy
    ) throws -> (context: ServerContext, key: SecretBytes) {
        try SystemInstallation.becomeServer()
        let ring = try KeyRing.make()
        let store = MemoryStore(node: Randomness.bytes(count: 16), key: ring.auditKey)
        let verifier = Verifier(store: store, keys: ring, policy: policy, clock: now)
        let added = try waitForTask {
            try await verifier.addClient(
                named: "tests", scopes: Scope.allCases.map(\.rawValue), limitedTo: nil)
        }
        guard let added else { throw ServerFailure.clientNameTaken }
        let context = ServerContext(
            keys: KeyFile(inMemory: ring), store: store, verifier: verifier, places: places)
        return (context, added.key.text)
    }
}

extension MemoryStore: ServedDatabase {
    nonisolated var problem: String? { nil }
    nonisolated func close() {}
    nonisolated func writeCheckpoints(_ places: ServerPaths) {}
    nonisolated func onCheckpointChange(by events: Int, _ tell: @escaping @Sendable () -> Void) {}
    nonisolated func claim(_ keys: KeyRing, _ places: ServerPaths) -> Set<KeyID> { [] }
}
