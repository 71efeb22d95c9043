import Synchronization
import Verification

/// The keys of the key file, as far as all machines mean the same by them.
///
/// Two machines whose key files have different keys by one number would find each other's right codes
/// wrong. A key is used once the database has heard of it; where it knows another one by that number,
/// the keys from before are used on, and rows that need the new one are answered with 503.
final class AgreedKeys: Sendable {
    private struct State {
        var ring: KeyRing
        /// What was asked of the database last: the same is not asked again at each decision.
        var asked: [KeyID]
        /// Until when a database that could not say is left alone.
        var quietUntil = ContinuousClock.now
    }

    private let file: KeyFile
    private let database: any ServedDatabase
    private let places: ServerPlaces
    private let state: Mutex<State>

    /// Agrees on the keys that the file has now.
    init(
        _ file: KeyFile, _ database: any ServedDatabase, _ places: ServerPlaces
    ) throws(ServerFailure) {
        let ring = file.ring()
        let foreign = try database.claim(ring, places)
        guard foreign.isEmpty else { throw .foreignKeys(places.keyFile, foreign.sorted()) }
        self.file = file
        self.database = database
        self.places = places
        state = Mutex(State(ring: ring, asked: ring.versions.map(\.id)))
    }

    /// The keys to be used now.
    func ring() -> KeyRing {
        let ring = file.ring()
        let ids = ring.versions.map(\.id)
        return state.withLock { state in
            let isNew = ids.contains { !state.asked.contains($0) }
            // Keys that are used already, without some that were given up perhaps, or with another
            // one to be used from now on.
            guard isNew else {
                if ids.allSatisfy({ id in state.ring.versions.contains { $0.id == id } }) {
                    state.ring = ring
                }
                return state.ring
            }
            guard state.quietUntil <= .now else { return state.ring }
            do throws(ServerFailure) {
                let foreign = try database.claim(ring, places)
                state.asked = ids
                if foreign.isEmpty { state.ring = ring }
            } catch {
                // A later decision asks again.
                state.quietUntil = .now + .seconds(5)
            }
            return state.ring
        }
    }
}
