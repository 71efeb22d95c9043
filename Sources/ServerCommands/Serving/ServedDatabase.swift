import PostgreSQLStore
import SQLiteStore
import Verification

/// What serving asks of a database beyond what the verifier asks.
protocol ServedDatabase: VerificationStore {
    /// Does what is waiting, and closes it; calls that come later fail.
    func close()

    /// Writes down where the events end, so that an earlier state in its place is noticed.
    func writeDownEnds(_ places: ServerPlaces) throws(ServerFailure)

    /// Calls `tell` whenever so many events more are in it; `tell` waits for nobody.
    func whenEndsMove(by events: Int, _ tell: @escaping @Sendable () -> Void)

    /// What is wrong with it though it answers; nothing when all is well.
    var trouble: String? { get }

    /// Tells which key has which number.
    ///
    /// - Returns: the numbers under which other machines have other keys.
    func claim(_ keys: KeyRing, _ places: ServerPlaces) throws(ServerFailure) -> Set<KeyID>
}

extension SQLiteStore: ServedDatabase {
    func writeDownEnds(_ places: ServerPlaces) throws(ServerFailure) {
        do throws(SQLiteStoreError) { try keepMark() } catch {
            throw .store(places.database.shown, error)
        }
    }

    /// What the file's disk has confirmed does not go by itself; who puts an earlier file back has stopped
    /// the server first, or has made it a copy of the time before.
    func whenEndsMove(by events: Int, _ tell: @escaping @Sendable () -> Void) {}

    /// A log that is not taken into the file grows, and a disk that does not confirm what is written is
    /// about to fail.
    var trouble: String? {
        checkpointFailure.map { "checkpoint-\($0.trouble.rawValue) \($0.code)" }
    }

    /// The file's machine has one key file.
    func claim(_ keys: KeyRing, _ places: ServerPlaces) -> Set<KeyID> { [] }
}

extension PostgreSQLStore: ServedDatabase {
    /// What is wrong with a server is its operator's to know, and its own log's to say.
    var trouble: String? { nil }

    func writeDownEnds(_ places: ServerPlaces) throws(ServerFailure) {
        do throws(EndsFileError) { try EndsFile(path: places.endsFile).keep(ends) } catch {
            throw .endsFile(places.endsFile, error)
        }
    }

    func claim(_ keys: KeyRing, _ places: ServerPlaces) throws(ServerFailure) -> Set<KeyID> {
        let fingerprints = keys.versions.map { ($0.id, $0.fingerprint) }
        do throws(PostgreSQLStoreError) {
            return try claim(Dictionary(uniqueKeysWithValues: fingerprints))
        } catch {
            throw .postgreSQL(places.database.shown, error)
        }
    }
}

extension DatabasePlace {
    /// Opens it, with the ends that were kept of it.
    func open(_ places: ServerPlaces, key: AuditKey) throws(ServerFailure) -> any ServedDatabase {
        switch self {
        case .sqlite(let path):
            do throws(SQLiteStoreError) { return try SQLiteStore(opening: path, key: key) } catch {
                throw .store(path, error)
            }
        case .postgreSQL(let address):
            let ends: [ChainEnd]
            do throws(EndsFileError) { ends = try EndsFile(path: places.endsFile).read() } catch {
                throw .endsFile(places.endsFile, error)
            }
            do throws(PostgreSQLStoreError) {
                return try PostgreSQLStore(connecting: address, key: key, known: ends)
            } catch .putBack {
                throw .putBack(places.endsFile)
            } catch {
                throw .postgreSQL(shown, error)
            }
        }
    }
}
