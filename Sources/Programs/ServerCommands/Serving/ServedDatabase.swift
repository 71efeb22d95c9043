import PostgreSQLStore
import SQLiteStore
import Verification

/// A store with the additional operations that the server needs.
protocol ServedDatabase: VerificationStore {
    /// Finishes pending work and closes the database; later calls fail.
    func close()

    /// Records the ends of the event chains, so that an older state of the database is detected.
    func writeCheckpoints(_ places: ServerPaths) throws(ServerFailure)

    /// Calls `tell` after every `events` events; `tell` must not block.
    func onCheckpointChange(by events: Int, _ tell: @escaping @Sendable () -> Void)

    /// A fault that does not stop the database from answering; `nil` if there is none.
    var problem: String? { get }

    /// Registers the keys under their numbers.
    ///
    /// - Returns: the numbers under which other machines have different keys.
    func claim(_ keys: KeyRing, _ places: ServerPaths) throws(ServerFailure) -> Set<KeyID>
}

extension SQLiteVerificationStore: ServedDatabase {
    func writeCheckpoints(_ places: ServerPaths) throws(ServerFailure) {
        do throws(SQLiteStoreError) { try saveCheckpoint() } catch {
            throw .store(places.database.shown, error)
        }
    }

    /// Does nothing: a file does not lose confirmed events by itself.
    ///
    /// An older file can replace it only while the server is stopped, and the server records the
    /// end when it stops.
    func onCheckpointChange(by events: Int, _ tell: @escaping @Sendable () -> Void) {}

    /// A failing checkpoint.
    ///
    /// The write-ahead log grows, and the disk may be about to fail.
    var problem: String? {
        checkpointFailure.map { "checkpoint-\($0.kind.rawValue) \($0.code)" }
    }

    /// Returns nothing, because an SQLite database belongs to one machine, with one key file.
    func claim(_ keys: KeyRing, _ places: ServerPaths) -> Set<KeyID> { [] }
}

extension PostgreSQLVerificationStore: ServedDatabase {
    /// Always `nil`: PostgreSQL reports its faults in its own log.
    var problem: String? { nil }

    func writeCheckpoints(_ places: ServerPaths) throws(ServerFailure) {
        try CheckpointFile(path: places.endsFile).keep(ends)
    }

    func claim(_ keys: KeyRing, _ places: ServerPaths) throws(ServerFailure) -> Set<KeyID> {
        let fingerprints = keys.versions.map { ($0.id, $0.fingerprint) }
        do throws(PostgreSQLStoreError) {
            return try claim(Dictionary(uniqueKeysWithValues: fingerprints))
        } catch {
            throw .postgreSQL(places.database.shown, error)
        }
    }
}

extension DatabaseURL {
    /// Opens the database and checks it against the recorded ends.
    func open(_ places: ServerPaths, key: AuditKey) throws(ServerFailure) -> any ServedDatabase {
        switch self {
        case .sqlite(let path):
            do throws(SQLiteStoreError) {
                return try SQLiteVerificationStore(opening: path, key: key)
            } catch {
                throw .store(path, error)
            }
        case .postgreSQL(let address):
            let ends = try CheckpointFile(path: places.endsFile).read()
            do throws(PostgreSQLStoreError) {
                return try PostgreSQLVerificationStore(connecting: address, key: key, known: ends)
            } catch .rolledBack {
                throw .rolledBack(places.endsFile)
            } catch {
                throw .postgreSQL(shown, error)
            }
        }
    }
}
