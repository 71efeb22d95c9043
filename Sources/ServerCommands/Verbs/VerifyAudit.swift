import Arguments
import Cryptography
import JSONText
import PostgreSQLStore
import SQLiteStore
import Verification

/// `audit verify`: detects events that were deleted, changed, moved or cut off, and rows that do
/// not match the events.
enum VerifyAudit {
    static func run(_ arguments: ServerArguments) throws(ServerFailure) -> ServerExit {
        let places = try ServerPlaces(arguments)
        let checkpoints = try arguments[.checkpoint].map { path throws(ServerFailure) in
            try Checkpoints.read(path)
        }
        let found = try audit(places, checkpoints ?? [])
        let isWhole = found.findings.isEmpty
        let findings = found.findings
        if arguments.has(.json) {
            try ServerPrinter.line(
                .object([
                    ("result", .text(isWhole ? "whole" : "tampered")),
                    ("events", .number(Int64(found.events))),
                    ("findings", .list(findings.map { .text($0) })),
                    ("marks", .list(found.marks.map { .text($0.text) })),
                ]))
        } else {
            for finding in findings { try ServerPrinter.line(finding) }
            try ServerPrinter.line(
                "\(found.events) events, "
                    + (isWhole ? "no tampering found." : "tampering found."))
            // Print no checkpoints of chains that were tampered with.
            if isWhole { for mark in found.marks { try ServerPrinter.line(mark.text) } }
        }
        return isWhole ? .done : .no
    }

    /// The number of events, the findings, and the checkpoints.
    private static func audit(
        _ places: ServerPlaces, _ checkpoints: [ChainMark]
    ) throws(ServerFailure) -> (events: Int, findings: [String], marks: [ChainMark]) {
        let key = try KeyFile.opening(places, making: false).ring().auditKey
        switch places.database {
        case .sqlite(let path):
            do throws(SQLiteStoreError) {
                let report = try SQLiteStore.audit(at: path, key: key, checkpoints: checkpoints)
                let damage = report.isSound ? [] : ["the database's structure is damaged"]
                return (
                    report.events,
                    report.findings.map(ServerWords.sentence(for:))
                        + report.rows.map(ServerWords.sentence(for:)) + damage,
                    report.marks
                )
            } catch {
                throw .store(path, error)
            }
        case .postgreSQL(let address):
            let kept: [ChainEnd]
            do throws(EndsFileError) { kept = try EndsFile(path: places.endsFile).read() } catch {
                throw .endsFile(places.endsFile, error)
            }
            do throws(PostgreSQLStoreError) {
                let report = try PostgreSQLStore.audit(
                    at: address, key: key, checkpoints: kept.map(\.mark) + checkpoints)
                return (
                    report.events,
                    report.findings.map(ServerWords.sentence(for:))
                        + report.rows.map(ServerWords.sentence(for:)),
                    report.marks
                )
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
    static func read(_ path: String) throws(ServerFailure) -> [ChainMark] {
        let bytes = try InputBytes.of(path, limit: limit)
        let text = bytes.withBytes { bytes in
            String(validating: [UInt8](copying: bytes), as: UTF8.self)
        }
        var marks: [ChainMark] = []
        for line in (text ?? "").split(whereSeparator: \.isNewline)
        where line.hasPrefix(ChainMark.textPrefix) {
            guard let mark = ChainMark(text: String(line)) else { throw .noMarks(path) }
            marks.append(mark)
        }
        guard !marks.isEmpty else { throw .noMarks(path) }
        return marks
    }
}
