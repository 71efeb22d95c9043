import CommandLineInterface
import PostgreSQLStore
import Verification

/// `restore` for a PostgreSQL database that was rolled back to an earlier state.
enum RestorePostgreSQL {
    static func run(
        _ session: ServerSession, _ places: ServerPaths, _ address: PostgreSQLAddress
    ) throws(ServerFailure) -> ExitCode {
        let arguments = session.arguments
        let clock = try RestoreClock(arguments)
        let keys = try KeyFile.opening(places, making: false)
        let ended = try AuditEndedCommand.named(by: arguments)
        let report: FailoverRecoveryReport
        let end: AcknowledgedCheckpoint
        do throws(PostgreSQLStoreError) {
            (report, end) = try PostgreSQLVerificationStore.settle(
                address, key: keys.ring().auditKey, keepingClients: arguments.has(.keepClients),
                ended: ended ?? [], now: clock.now, trustingClock: clock.isTrusted)
        } catch {
            throw .postgreSQL(places.database.shown, error)
        }
        // With the ends recorded before the rollback, the server would reject this database.
        do throws(CheckpointFileError) {
            try CheckpointFile(path: places.endsFile).replace(with: end)
        } catch {
            throw .endsFile(places.endsFile, error)
        }
        try session.printer.line(
            "Credentials kept: \(report.kept). Ended, to be enrolled again: \(report.ended). "
                + "API keys revoked: \(report.clientsRevoked).")
        guard report.kept > 0, ended == nil else { return .done }
        try session.printer.line(
            """
            The credentials that were kept (time-based codes, passkeys and device keys) are accepted
            again, even if they were revoked, replaced or disabled after the restored state. End those
            first. If the lost database can be read,
            `watchword-server audit ended --store LOST-URL >ended.txt` lists them; otherwise, take them
            from the events that you exported (kind “revoked” or “disabled”). Then run restore again with
            --ended ended.txt, or start the server and send DELETE /v1/credentials/ID for each.
            """)
        return .done
    }
}
