import Verification
import WatchwordSystem

/// The store, the keys and the verifier that uses them.
struct ServerContext: Sendable {
    let keys: KeyFile
    let store: any ServedDatabase
    let verifier: Verifier
    private let places: ServerPaths

    /// Opens the database and the key file.
    ///
    /// - Parameter making: whether to create what is missing.
    static func open(
        _ places: ServerPaths, policy: Policy = .standard, making: Bool
    ) throws(ServerFailure) -> ServerContext {
        let keys = try KeyFile.opening(places, making: making)
        let store = try places.database.open(places, key: keys.ring().auditKey)
        let agreed = try RegisteredKeys(keys, store, places)
        let verifier = Verifier(store: store, policy: policy, clock: now, keys: { agreed.ring() })
        return ServerContext(keys: keys, store: store, verifier: verifier, places: places)
    }

    /// Records the ends of the event chains outside the database.
    func writeCheckpoints() throws(ServerFailure) { try store.writeCheckpoints(places) }

    /// Finishes pending work and closes the database.
    func close() {
        // If this fails, the previously recorded ends are still valid, only older.
        do throws(ServerFailure) { try writeCheckpoints() } catch {}
        store.close()
    }

    /// The wall clock.
    @Sendable static func now() -> UnixTime {
        UnixTime(milliseconds: SystemClock.unixMilliseconds())
    }
}
