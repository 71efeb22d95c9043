import CommandLineInterface
import PostgreSQLStore
import SQLiteStore
import Verification
import VerificationService
import WatchwordCryptography

/// `audit ended`, and the list that `restore --ended` reads: one credential id per line.
enum AuditEndedCommand {
    /// Enough for two million ids, more than are revoked between two backups.
    private static let limit = 64 << 20

    /// The ids in the file that `--ended` names; `nil` without the option.
    static func named(
        by arguments: ServerArguments
    ) throws(ServerFailure) -> Set<CredentialID>? {
        try arguments[.ended].map { path throws(ServerFailure) in try read(path) }
    }

    private static func read(_ path: String) throws(ServerFailure) -> Set<CredentialID> {
        let bytes = try InputBytes.of(path, limit: limit)
        let text = bytes.withBytes { bytes in
            String(validating: [UInt8](copying: bytes), as: UTF8.self)
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

    /// Prints the credentials that ended.
    static func write(_ session: ServerSession) throws(ServerFailure) -> ExitCode {
        let places = try ServerPaths(session.arguments)
        let found: (credentials: [CredentialID], isComplete: Bool)
        switch places.database {
        case .sqlite(let path):
            do throws(SQLiteStoreError) {
                let ended = try SQLiteVerificationStore.endedCredentials(at: path)
                found = (ended.credentials, ended.isComplete)
            } catch {
                throw .store(path, error)
            }
        case .postgreSQL(let address):
            do throws(PostgreSQLStoreError) {
                found = (try PostgreSQLVerificationStore.endedCredentials(at: address), true)
            } catch {
                throw .postgreSQL(places.database.shown, error)
            }
        }
        for credential in found.credentials { try session.printer.line(credential.text) }
        guard !found.isComplete else { return .done }
        try session.printer.flush()
        session.printer.complain("\(places.database.shown): \(ServerMessages.incompleteList)")
        return .no
    }
}
