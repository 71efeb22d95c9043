import Synchronization
import Verification

/// The keys of the key file, limited to those that all machines agree on.
///
/// If two machines had different keys under one number, each would deny codes that the other
/// accepts. A key is used only after it has been registered in the database. If a different key is
/// already registered under that number, the previous keys stay in use, and requests that need the
/// new key get 503.
final class RegisteredKeys: Sendable {
    private struct State {
        var ring: KeyRing
        /// The keys in the last database query, kept so that the query is not repeated for each
        /// decision.
        var asked: [KeyID]
        /// After a failed query, the database is not queried again before this time.
        var quietUntil = ContinuousClock.now
    }

    private let file: KeyFile
    private let database: any ServedDatabase
    private let places: ServerPaths
    private let state: Mutex<State>

    /// Registers the current keys of the file.
    init(
        _ file: KeyFile, _ database: any ServedDatabase, _ places: ServerPaths
    ) throws(ServerFailure) {
        let ring = file.ring()
        let foreign = try database.claim(ring, places)
        guard foreign.isEmpty else { throw .conflictingKeys(places.keyFile, foreign.sorted()) }
        self.file = file
        self.database = database
        self.places = places
        state = Mutex(State(ring: ring, asked: ring.versions.map(\.id)))
    }

    /// The keys to use now.
    func ring() -> KeyRing {
        let ring = file.ring()
        let ids = ring.versions.map(\.id)
        return state.withLock { state in
            let isNew = ids.contains { !state.asked.contains($0) }
            // All keys are registered already: keys were retired, or another key became current.
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
                // A later decision tries again.
                state.quietUntil = .now + .seconds(5)
            }
            return state.ring
        }
    }
}
