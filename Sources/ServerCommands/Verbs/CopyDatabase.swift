import Arguments
import SQLiteStore
import Verification
import VerificationService

/// Copies of the database, and a database of a copy.
enum CopyDatabase {
    static func backup(_ arguments: ServerArguments, to path: String) throws(ServerFailure) {
        let places = try ServerPlaces(arguments)
        guard case .sqlite(let database) = places.database else { throw .noCopies }
        let key = try KeyFile.opening(places, making: false).ring().auditKey
        let store: SQLiteStore
        do throws(SQLiteStoreError) { store = try SQLiteStore(opening: database, key: key) } catch {
            throw .store(database, error)
        }
        defer { store.close() }
        do throws(SQLiteStoreError) { try store.backUp(to: path, now: Backing.now()) } catch {
            throw .store(path, error)
        }
    }

    /// - Parameter path: the copy; empty where the database was put back already.
    static func restore(_ arguments: ServerArguments, from path: String) async throws(ServerFailure)
    {
        let places = try ServerPlaces(arguments)
        let database: String
        switch places.database {
        case .sqlite(let path): database = path
        case .postgreSQL(let address):
            guard path.isEmpty else { throw .takesNoFile }
            try SettleDatabase.run(arguments, places, address)
            return
        }
        guard !path.isEmpty else { throw .needsFile }
        let clock = try RestoringClock(arguments)
        let keys = try KeyFile.opening(places, making: false)
        let ended = try EndedList.named(by: arguments)
        let report: RestoreReport
        do throws(SQLiteStoreError) {
            report = try SQLiteStore.restore(
                from: path, to: database, key: keys.ring().auditKey,
                keepingClients: arguments.has(.keepClients), ended: ended ?? [],
                now: clock.now, trustingClock: clock.isTrusted)
        } catch {
            // That there is a database is no fault of the copy's.
            throw .store(error == .exists ? database : path, error)
        }
        try ServerPrinter.line(
            "\(report.kept) credentials go on, \(report.ended) ended and have to be enrolled anew, "
                + "\(report.clientsRevoked) API keys were revoked.")
        if report.kept > 0, ended == nil { try warnOfRevived(report) }
        try await warnOfMissingKeys(places)
    }

    /// Says which keys of the copy's time the key file does not have, for those who retired them since.
    private static func warnOfMissingKeys(_ places: ServerPlaces) async throws(ServerFailure) {
        let backing = try Backing.open(places, making: false)
        defer { backing.close() }
        let known = Set(backing.keys.ring().versions.map(\.id))
        let usage = try await verifying { () async throws(VerifierError) in
            try await backing.verifier.keyUsage()
        }
        for usage in usage where !known.contains(usage.keyID) {
            let count = usage.credentials.values.reduce(0, +)
            try ServerPrinter.line(
                "\(count) credentials hang on key \(usage.keyID.number), which \(places.keyFile) does not "
                    + "have: put the key file of the copy's time in its place, or they accept nothing."
            )
        }
    }

    /// Says what a copy can't know, and what to do about it.
    private static func warnOfRevived(_ report: RestoreReport) throws(ServerFailure) {
        let since = report.backedUpAt.map { " (\($0.text))" } ?? ""
        try ServerPrinter.line(
            """
            Those that go on accept time-based codes again, also where one was revoked or disabled after the
            copy was made\(since). Before you serve, end these again: if the lost database can still be
            read, `watchword-server audit ended --store sqlite:LOST >ended.txt` lists them; otherwise take
            them from the events that you kept (kind “revoked” or “disabled”). Then move this database away
            and restore once more with --ended ended.txt; or serve, and DELETE /v1/credentials/ID for each.
            """)
    }
}
