import Arguments
import Cryptography
import JSONText
import SQLiteStore
import Verification

/// Looks for events that were deleted, changed, moved or cut off.
enum VerifyAudit {
    static func run(_ arguments: ServerArguments) throws(ServerFailure) -> ServerExit {
        let places = try ServerPlaces(arguments)
        let checkpoint: ChainMark?
        do throws(UsageError) {
            checkpoint = try arguments.value(
                .checkpoint, expected: "a mark as audit verify prints it",
                ChainMark.init(text:))
        } catch {
            throw .usage(error)
        }
        let keys: KeyFile
        do throws(KeyFileError) { keys = try KeyFile.open(places, making: false) } catch {
            throw .keyFile(places.keyFile, error)
        }
        let report: AuditReport
        do throws(SQLiteStoreError) {
            report = try SQLiteStore.audit(
                at: places.database, key: keys.ring().auditKey,
                checkpoints: checkpoint.map { [$0] } ?? [])
        } catch {
            throw .store(places.database, error)
        }
        let isWhole = report.isSound && report.findings.isEmpty
        let findings =
            report.findings.map(ServerWords.sentence(for:))
            + (report.isSound ? [] : ["the database's structure is damaged"])
        if arguments.has(.json) {
            try ServerPrinter.line(
                .object([
                    ("result", .text(isWhole ? "whole" : "tampered")),
                    ("events", .number(Int64(report.events))),
                    ("findings", .list(findings.map { .text($0) })),
                ]))
        } else {
            for finding in findings { try ServerPrinter.line(finding) }
            try ServerPrinter.line(
                "\(report.events) events, "
                    + (isWhole ? "all as they were written." : "tampered with."))
        }
        return isWhole ? .done : .no
    }
}
