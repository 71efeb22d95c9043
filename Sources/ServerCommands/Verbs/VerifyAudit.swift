import Arguments
import Cryptography
import JSONText
import PostgreSQLStore
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
        let found = try audit(places, checkpoint.map { [$0] } ?? [])
        let isWhole = found.findings.isEmpty
        let findings = found.findings
        if arguments.has(.json) {
            try ServerPrinter.line(
                .object([
                    ("result", .text(isWhole ? "whole" : "tampered")),
                    ("events", .number(Int64(found.events))),
                    ("findings", .list(findings.map { .text($0) })),
                ]))
        } else {
            for finding in findings { try ServerPrinter.line(finding) }
            try ServerPrinter.line(
                "\(found.events) events, "
                    + (isWhole ? "all as they were written." : "tampered with."))
        }
        return isWhole ? .done : .no
    }

    /// How many events there are, and what is wrong with them.
    private static func audit(
        _ places: ServerPlaces, _ checkpoints: [ChainMark]
    ) throws(ServerFailure) -> (events: Int, findings: [String]) {
        let key = try KeyFile.opening(places, making: false).ring().auditKey
        switch places.database {
        case .sqlite(let path):
            do throws(SQLiteStoreError) {
                let report = try SQLiteStore.audit(at: path, key: key, checkpoints: checkpoints)
                let damage = report.isSound ? [] : ["the database's structure is damaged"]
                return (report.events, report.findings.map(ServerWords.sentence(for:)) + damage)
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
                return (report.events, report.findings.map(ServerWords.sentence(for:)))
            } catch {
                throw .postgreSQL(places.database.shown, error)
            }
        }
    }
}
