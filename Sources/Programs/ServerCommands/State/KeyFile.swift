import PostgreSQLStore
import Synchronization
import Verification
import WatchwordSystem

/// The key file, which is read again after it has been replaced.
final class KeyFile: Sendable {
    private struct Known {
        var ring: KeyRing
        var stamp: FileStamp?
    }

    let path: String
    /// Whether the file is a copy that the service manager passed to this process.
    private let isPassed: Bool
    private let known: Mutex<Known>

    private init(path: String, isPassed: Bool, ring: KeyRing, stamp: FileStamp) {
        self.path = path
        self.isPassed = isPassed
        known = Mutex(Known(ring: ring, stamp: stamp))
    }

    /// Creates a key file in memory, for keys that are in no file.
    init(inMemory ring: KeyRing) {
        path = ""
        isPassed = false
        known = Mutex(Known(ring: ring, stamp: nil))
    }

    /// Opens the key file for a command, and creates it only if there is no database yet.
    ///
    /// On an installed server, root continues as the server's user.
    static func opening(_ places: ServerPaths, making: Bool) throws -> KeyFile {
        // The keys belong to root or to the server.
        let owner = SystemFolder.owner(of: OutputFile.split(places.keyFile).folder) ?? 0
        if owner != 0 { try SystemInstallation.becomeServer() }
        let file = try openOrMake(places, making: making)
        try SystemInstallation.becomeServer()
        return file
    }

    private static func openOrMake(_ places: ServerPaths, making: Bool) throws -> KeyFile {
        let path = places.keyFile
        if FileStamp(of: path) == nil {
            let made = try KeyRing.opened(at: path, creating: making) {
                try places.database.isKnown()
            }
            _ = try naming(made.get()) { .keyFile(path, .content($0)) }
        }
        return try open(places)
    }

    private static func open(_ places: ServerPaths) throws -> KeyFile {
        let (path, isPassed) = (places.keyFile, places.keysArePassed)
        // Get the stamp first: if the file is replaced before it is read, it will be read again.
        guard let stamp = FileStamp(of: path) else {
            throw ServerFailure.keyFile(path, .content(.keyRing(.unreadable(.missing))))
        }
        let ring = try read(path, isPassed: isPassed)
        return KeyFile(path: path, isPassed: isPassed, ring: ring, stamp: stamp)
    }

    private static func read(_ path: String, isPassed: Bool) throws -> KeyRing {
        guard isPassed else {
            return try naming(KeyRing(at: path)) { .keyFile(path, .content($0)) }
        }
        var bytes = try naming(
            ServiceManager.readCredential(at: path, limit: KeyRing.maximumFileSize)
        ) { .keyFile(path, .content(.keyRing(.unreadable($0)))) }
        return try naming(KeyRing(erasing: &bytes)) { .keyFile(path, .content($0)) }
    }

    /// The current keys of the file; the previous ones if the file cannot be read.
    func ring() -> KeyRing {
        known.withLock { known in
            guard let stamp = FileStamp(of: path), stamp != known.stamp else { return known.ring }
            do {
                known.ring = try KeyFile.read(path, isPassed: isPassed)
                known.stamp = stamp
            } catch {
                // A missing or damaged key file must not stop a working server.
            }
            return known.ring
        }
    }

    /// Changes the keys in the file under an exclusive lock.
    ///
    /// - Returns: the new keys.
    @discardableResult func change(
        _ change: (KeyRing) throws(VerifierError) -> KeyRing
    ) throws -> KeyRing {
        // The server has only a copy of the file, and would not notice a change.
        guard !isPassed, path != SystemInstallation.keyFile else {
            throw ServerFailure.keyFile(path, .copied)
        }
        return try naming(KeyRing.change(at: path, change)) { .keyFile(path, .content($0)) }
    }
}

extension KeyFile {
    /// The reason why the key file cannot be used.
    enum Fault: Equatable, Sendable {
        case content(VerifierError)
        /// The service manager passes copies of the file to the server.
        case copied
    }
}

/// The keys of the key file, limited to those that all machines agree on.
///
/// If two machines had different keys under one number, each would deny codes that the other
/// accepts. A key is used only after it has been registered in the database. If a different key is
/// already registered under that number, the previous keys stay in use, and requests that need the
/// new key get 503.
final class RegisteredKeys: Sendable {
    private struct State {
        var ring: KeyRing
        /// The keys in the last database query, stored so that the query is not repeated for each
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
    ) throws {
        let ring = file.ring()
        let foreign = try database.claim(ring, places)
        guard foreign.isEmpty else {
            throw ServerFailure.conflictingKeys(places.keyFile, foreign.sorted())
        }
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
            // All keys are registered already: keys were retired, or a different key became
            // current.
            guard isNew else {
                if ids.allSatisfy({ id in state.ring.versions.contains { $0.id == id } }) {
                    state.ring = ring
                }
                return state.ring
            }
            guard state.quietUntil <= .now else { return state.ring }
            do {
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
