import CommandLineInterface
import PostgreSQLStore
import SQLStore
import SQLiteStore
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography

/// `audit verify`: detects events that were deleted, changed, moved or cut off, and rows that do
/// not match the events.
enum AuditVerifyCommand {
    static func run(_ session: ServerSession) throws -> ExitCode {
        let places = try ServerPaths(session.arguments)
        let checkpoints = try session.arguments[.checkpoint].map(Checkpoints.read)
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
    ) throws -> AuditReport {
        let key = try KeyFile.opening(places, making: false).ring().auditKey
        switch places.database {
        case .sqlite(let path):
            return try naming(
                SQLiteVerificationStore.audit(at: path, key: key, checkpoints: checkpoints)
            ) { .database(places.database, $0) }
        case .postgreSQL(let address):
            let kept = try CheckpointFile(path: places.endsFile).read()
            return try naming(
                PostgreSQLVerificationStore.audit(
                    at: address, key: key, checkpoints: kept.map(\.mark) + checkpoints)
            ) { .database(places.database, $0) }
        }
    }
}

/// The checkpoints in the output of an earlier `audit verify`.
private enum Checkpoints {
    /// Far more than the output of an audit.
    private static let limit = 1 << 20

    /// Reads the lines that are checkpoints, and skips the others.
    static func read(_ path: String) throws -> [ChainCheckpoint] {
        let bytes = try InputBytes.of(path, limit: limit)
        let text = bytes.withBytes { bytes in
            String(validating: [UInt8](copying: bytes), as: UTF8.self)
        }
        var marks: [ChainCheckpoint] = []
        for line in (text ?? "").split(whereSeparator: \.isNewline)
        where line.hasPrefix(ChainCheckpoint.textPrefix) {
            guard let mark = ChainCheckpoint(text: String(line)) else {
                throw ServerFailure.noCheckpoint(path)
            }
            marks.append(mark)
        }
        guard !marks.isEmpty else { throw ServerFailure.noCheckpoint(path) }
        return marks
    }
}

/// `audit ended`, and the list that `restore --ended` reads: one credential id per line.
enum AuditEndedCommand {
    /// Enough for two million ids, more than are revoked between two backups.
    private static let limit = 64 << 20

    /// The ids in the file of `--ended`; `nil` without the option.
    static func named(
        by arguments: ServerArguments
    ) throws -> Set<CredentialID>? {
        try arguments[.ended].map(read)
    }

    private static func read(_ path: String) throws -> Set<CredentialID> {
        let bytes = try InputBytes.of(path, limit: limit)
        let text = bytes.withBytes { bytes in
            String(validating: [UInt8](copying: bytes), as: UTF8.self)
        }
        guard let text else { throw ServerFailure.notAList(path, line: 1) }
        var found: Set<CredentialID> = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            guard let id = CredentialID(text: String(line)) else {
                throw ServerFailure.notAList(path, line: index + 1)
            }
            found.insert(id)
        }
        return found
    }

    /// Prints the ids of the ended credentials.
    static func write(_ session: ServerSession) throws -> ExitCode {
        let places = try ServerPaths(session.arguments)
        // A file from a lost database may be in a folder that only root can read.
        if session.arguments.given(.store) == nil || !places.database.isFile {
            try SystemInstallation.becomeServer()
        }
        let found: EndedCredentials
        switch places.database {
        case .sqlite(let path):
            found = try naming(SQLiteVerificationStore.endedCredentials(at: path)) {
                .database(places.database, $0)
            }
        case .postgreSQL(let address):
            found = try naming(PostgreSQLVerificationStore.endedCredentials(at: address)) {
                .database(places.database, $0)
            }
        }
        for credential in found.credentials { try session.printer.line(credential.text) }
        guard !found.isComplete else { return .done }
        try session.printer.flush()
        session.printer.complain("\(places.database.shown): \(ServerMessages.incompleteList)")
        return .no
    }
}
