import POSIX
import Verification

/// The store, the keys and the verifier that uses them.
struct Backing: Sendable {
    let keys: KeyFile
    let store: any ServedDatabase
    let verifier: Verifier
    private let places: ServerPlaces

    /// Opens the database and the key file.
    ///
    /// - Parameter making: whether to create what is missing.
    static func open(
        _ places: ServerPlaces, policy: Policy = .standard, making: Bool
    ) throws(ServerFailure) -> Backing {
        let keys = try KeyFile.opening(places, making: making)
        let store = try places.database.open(places, key: keys.ring().auditKey)
        let agreed = try AgreedKeys(keys, store, places)
        let verifier = Verifier(store: store, policy: policy, clock: now, keys: { agreed.ring() })
        return Backing(keys: keys, store: store, verifier: verifier, places: places)
    }

    /// Records the ends of the event chains outside the database.
    func writeDownEnds() throws(ServerFailure) { try store.writeDownEnds(places) }

    /// Finishes pending work and closes the database.
    func close() {
        // If this fails, the ends recorded before are still valid, only older.
        do throws(ServerFailure) { try writeDownEnds() } catch {}
        store.close()
    }

    /// The wall clock.
    @Sendable static func now() -> UnixTime {
        UnixTime(milliseconds: SystemClock.unixMilliseconds())
    }
}
