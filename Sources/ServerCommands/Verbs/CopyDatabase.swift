import Arguments
import Cryptography
import SQLiteStore
import Verification
import VerificationService

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

    static func restore(_ arguments: ServerArguments, from path: String) async throws(ServerFailure)
    {
        let places = try ServerPlaces(arguments)
        let keys: KeyFile
        do throws(KeyFileError) { keys = try KeyFile.open(places, making: false) } catch {
            throw .keyFile(places.keyFile, error)
        }
        let ended = try arguments[.ended].map { path throws(ServerFailure) in
            try EndedList.read(path)
        }
        let report: RestoreReport
        do throws(SQLiteStoreError) {
            report = try SQLiteStore.restore(
                from: path, to: places.database, key: keys.ring().auditKey,
                keepingClients: arguments.has(.keepClients), ended: ended ?? [],
                now: Backing.now())
        } catch {
            // That there is a database is no fault of the copy's.
            throw .store(error == .exists ? places.database : path, error)
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

    /// Lists what ended, for ``restore(_:from:)``.
    static func listEnded(_ arguments: ServerArguments) throws(ServerFailure) -> ServerExit {
        let path = try ServerPlaces(arguments).database
        let found: EndedCredentials
        do throws(SQLiteStoreError) { found = try SQLiteStore.endedCredentials(at: path) } catch {
            throw .store(path, error)
        }
        for credential in found.credentials { try ServerPrinter.line(credential.text) }
        guard !found.isComplete else { return .done }
        ServerPrinter.complain("\(path): \(ServerWords.incompleteList)")
        return .no
    }
}

/// The names of credentials in a file, one a line.
enum EndedList {
    /// More than anybody revokes between two backups: two million names.
    private static let limit = 64 << 20

    static func read(_ path: String) throws(ServerFailure) -> Set<CredentialID> {
        let bytes = try InputBytes.of(path, limit: limit)
        let text = bytes.withBytes { bytes in
            String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        guard let text else { throw .notAList(path, line: 1) }
        var found: Set<CredentialID> = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            guard let id = CredentialID(text: String(line)) else {
                throw .notAList(path, line: index + 1)
            }
            found.insert(id)
        }
        return found
    }
}
