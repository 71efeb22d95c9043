import SQLiteStore
import Verification

/// Copies of the database, and a database of a copy.
enum CopyDatabase {
    static func backup(_ arguments: ServerArguments, to path: String) throws(ServerFailure) {
        let backing = try Backing.open(ServerPlaces(arguments), making: false)
        defer { backing.close() }
        do throws(SQLiteStoreError) {
            try backing.store.backUp(to: path, now: Backing.now())
        } catch {
            throw .store(path, error)
        }
    }

    static func restore(_ arguments: ServerArguments, from path: String) throws(ServerFailure) {
        let places = try ServerPlaces(arguments)
        let keys: KeyFile
        do throws(KeyFileError) { keys = try KeyFile.open(places, making: false) } catch {
            throw .keyFile(places.keyFile, error)
        }
        let report: RestoreReport
        do throws(SQLiteStoreError) {
            report = try SQLiteStore.restore(
                from: path, to: places.database, key: keys.ring().auditKey,
                keepingClients: arguments.has(.keepClients), now: Backing.now())
        } catch {
            // That there is a database is no fault of the copy's.
            throw .store(error == .exists ? places.database : path, error)
        }
        try ServerPrinter.line(
            "\(report.kept) credentials go on, \(report.ended) ended and have to be enrolled anew, "
                + "\(report.clientsRevoked) API keys were revoked.")
    }
}
