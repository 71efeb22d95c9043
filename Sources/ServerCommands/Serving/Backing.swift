import POSIX
import SQLiteStore
import Verification

/// The store, the keys and the verifier over both.
struct Backing: Sendable {
    let keys: KeyFile
    let store: SQLiteStore
    let verifier: Verifier

    /// Opens what is there, and makes what is missing if that is wished.
    static func open(
        _ places: ServerPlaces, policy: Policy = .standard, making: Bool
    ) throws(ServerFailure) -> Backing {
        let keys: KeyFile
        do throws(KeyFileError) { keys = try KeyFile.open(places, making: making) } catch {
            throw .keyFile(places.keyFile, error)
        }
        let store: SQLiteStore
        do throws(SQLiteStoreError) {
            store = try SQLiteStore(opening: places.database, key: keys.ring().auditKey)
        } catch {
            throw .store(places.database, error)
        }
        let verifier = Verifier(store: store, policy: policy, clock: now, keys: { keys.ring() })
        return Backing(keys: keys, store: store, verifier: verifier)
    }

    /// Does what is waiting, and closes the database.
    func close() { store.close() }

    /// The time of day.
    @Sendable static func now() -> UnixTime {
        UnixTime(milliseconds: SystemClock.unixMilliseconds())
    }
}
