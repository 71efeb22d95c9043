import CommandLineInterface
import PostgreSQLStore
import SQLiteStore
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography

/// `audit verify`: detects events that were deleted, changed, moved or cut off, and rows that do
/// not match the events.
enum AuditVerifyCommand {
    static func run(_ session: ServerSession) throws(ServerFailure) -> ExitCode {
        let places = try ServerPaths(session.arguments)
        let checkpoints = try session.arguments[.checkpoint].map { path throws(ServerFailure) in
            try Checkpoints.read(path)
        }
        let report = try audit(places, checkpoints ?? [])
        let findings =
            report.findings.map(ServerMessages.sentence(for:))
            + report.rows.map(ServerMessages.sentence(for:))
            + (report.isSound ? [] : ["the database's structure is damaged"])
        let isWhole = findings.isEmpty
        if session.wantsJSON {
            try session.printer.line(
                .object([
                    ("result", .text(isWhole ? "whole" : "tampered")),
                    ("events", .number(Int64(report.events))),
                    ("findings", .list(findings.map { .text($0) })),
                    ("marks", .list(report.marks.map { .text($0.text) })),
                ]))
        } else {
            for finding in findings { try session.printer.line(finding) }
            try session.printer.line(
                "\(report.events) events, "
                    + (isWhole ? "no tampering found." : "tampering found."))
            // Print no checkpoints of chains that were tampered with.
            if isWhole { for mark in report.marks { try session.printer.line(mark.text) } }
        }
        return isWhole ? .done : .no
    }

    private static func audit(
        _ places: ServerPaths, _ checkpoints: [ChainCheckpoint]
    ) throws(ServerFailure) -> AuditReport {
        let key = try KeyFile.opening(places, making: false).ring().auditKey
        switch places.database {
        case .sqlite(let path):
            do throws(SQLiteStoreError) {
                return try SQLiteVerificationStore.audit(
                    at: path, key: key, checkpoints: checkpoints)
            } catch {
                throw .store(path, error)
            }
        case .postgreSQL(let address):
            let kept = try CheckpointFile(path: places.endsFile).read()
            do throws(PostgreSQLStoreError) {
                return try PostgreSQLVerificationStore.audit(
                    at: address, key: key, checkpoints: kept.map(\.mark) + checkpoints)
            } catch {
                throw .postgreSQL(places.database.shown, error)
            }
        }
    }
}

/// The checkpoints in the output of an earlier `audit verify`.
private enum Checkpoints {
    /// Far more than an audit prints.
    private static let limit = 1 << 20

    /// Reads the lines that are checkpoints, and skips the others.
    static func read(_ path: String) throws(ServerFailure) -> [ChainCheckpoint] {
        let bytes = try InputBytes.of(path, limit: limit)
        let text = bytes.withBytes { bytes in
            String(validating: [UInt8](copying: bytes), as: UTF8.self)
        }
        var marks: [ChainCheckpoint] = []
        for line in (text ?? "").split(whereSeparator: \.isNewline)
        where line.hasPrefix(ChainCheckpoint.textPrefix) {
            guard let mark = ChainCheckpoint(text: String(line)) else { throw .noCheckpoint(path) }
            marks.append(mark)
        }
        guard !marks.isEmpty else { throw .noCheckpoint(path) }
        return marks
    }
}

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
