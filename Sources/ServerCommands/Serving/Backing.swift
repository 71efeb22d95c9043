import POSIX
import Verification

/// The store, the keys and the verifier over both.
struct Backing: Sendable {
    let keys: KeyFile
    let store: any ServedDatabase
    let verifier: Verifier
    private let places: ServerPlaces

    /// Opens what is there, and makes what is missing if that is wished.
    static func open(
        _ places: ServerPlaces, policy: Policy = .standard, making: Bool
    ) throws(ServerFailure) -> Backing {
        let keys = try KeyFile.opening(places, making: making)
        let store = try places.database.open(places, key: keys.ring().auditKey)
        let agreed = try AgreedKeys(keys, store, places)
        let verifier = Verifier(store: store, policy: policy, clock: now, keys: { agreed.ring() })
        return Backing(keys: keys, store: store, verifier: verifier, places: places)
    }

    /// Writes down where the events end.
    func writeDownEnds() throws(ServerFailure) { try store.writeDownEnds(places) }

    /// Does what is waiting, and closes the database.
    func close() {
        // The ends that were kept before are as true, only older.
        do throws(ServerFailure) { try writeDownEnds() } catch {}
        store.close()
    }

    /// The time of day.
    @Sendable static func now() -> UnixTime {
        UnixTime(milliseconds: SystemClock.unixMilliseconds())
    }
}
