import CommandLineInterface
import PostgreSQLStore
import SQLiteStore
import Verification
import VerificationService
import WatchwordSystem

/// `backup` and `restore`.
enum BackupCommand {
    static func backup(_ session: ServerSession) throws(ServerFailure) -> ExitCode {
        let path = session.operand
        let places = try ServerPaths(session.arguments)
        guard case .sqlite(let database) = places.database else { throw .noCopies }
        let key = try KeyFile.opening(places, making: false).ring().auditKey
        let store: SQLiteVerificationStore
        do throws(SQLiteStoreError) {
            store = try SQLiteVerificationStore(opening: database, key: key)
        } catch {
            throw .store(database, error)
        }
        defer { store.close() }
        do throws(SQLiteStoreError) { try store.backUp(to: path, now: ServerContext.now()) } catch {
            throw .store(path, error)
        }
        return .done
    }

    static func restore(_ session: ServerSession) async throws(ServerFailure) -> ExitCode {
        let arguments = session.arguments
        // The copy; empty for PostgreSQL.
        let path = session.operand
        let places = try ServerPaths(arguments)
        let database: String
        switch places.database {
        case .sqlite(let path): database = path
        case .postgreSQL(let address):
            guard path.isEmpty else { throw .takesNoFile }
            return try RestorePostgreSQL.run(session, places, address)
        }
        guard !path.isEmpty else { throw .needsFile }
        let clock = try RestoreClock(arguments)
        let keys = try KeyFile.opening(places, making: false)
        let ended = try AuditEndedCommand.named(by: arguments)
        let report: RestoreReport
        do throws(SQLiteStoreError) {
            report = try SQLiteVerificationStore.restore(
                from: path, to: database, key: keys.ring().auditKey,
                keepingClients: arguments.has(.keepClients), ended: ended ?? [],
                now: clock.now, trustingClock: clock.isTrusted)
        } catch {
            // This error concerns the database, not the copy.
            throw .store(error == .exists ? database : path, error)
        }
        try session.printer.line(
            "Credentials kept: \(report.kept). Ended, to be enrolled again: \(report.ended). "
                + "API keys revoked: \(report.clientsRevoked).")
        if report.kept > 0, ended == nil { try warnAboutRevived(report, session) }
        try await warnAboutMissingKeys(places, session)
        return .done
    }

    /// Warns of keys that the copy needs but the key file lacks, because they have been retired.
    private static func warnAboutMissingKeys(
        _ places: ServerPaths, _ session: ServerSession
    ) async throws(ServerFailure) {
        let context = try ServerContext.open(places, making: false)
        defer { context.close() }
        let known = Set(context.keys.ring().versions.map(\.id))
        let usage = try await verifying { () async throws(VerifierError) in
            try await context.verifier.keyUsage()
        }
        for usage in usage where !known.contains(usage.keyID) {
            let count = usage.credentials.values.reduce(0, +)
            try session.printer.line(
                "Key \(usage.keyID.number) is missing from \(places.keyFile). Credentials that use it: "
                    + "\(count). Install the key file from the time of the copy; until "
                    + "then, these credentials are always denied."
            )
        }
    }

    /// Warns that revoked credentials may be valid again.
    private static func warnAboutRevived(
        _ report: RestoreReport, _ session: ServerSession
    ) throws(ServerFailure) {
        let since = report.backedUpAt.map { " (\($0.text))" } ?? ""
        try session.printer.line(
            """
            The credentials that were kept (time-based codes, passkeys and device keys) are accepted
            again, even if they were revoked, replaced or disabled after the copy was made\(since).
            End those first. If the lost database can be read,
            `watchword-server audit ended --store sqlite:LOST >ended.txt` lists them; otherwise, take
            them from the events that you exported (kind “revoked” or “disabled”). Then move this
            database away and run restore again with --ended ended.txt, or start the server and send
            DELETE /v1/credentials/ID for each.
            """)
    }
}

/// The clock of `restore`, whose time decides which codes are refused permanently.
struct RestoreClock {
    let now: UnixTime
    /// Whether the administrator has confirmed that the time is correct.
    let isTrusted: Bool

    /// - Throws: ``ServerFailure/untrustedClock(_:isPossible:)`` if the clock cannot be trusted.
    init(
        _ arguments: ServerArguments, now: UnixTime = ServerContext.now(),
        state: ClockState = .current()
    ) throws(ServerFailure) {
        isTrusted = arguments.has(.clockIsRight)
        self.now = now
        let requirement = ClockRequirement(profile: .wide, asksKernel: !isTrusted)
        guard requirement.complaint(now: now, state: state) == nil else {
            throw .untrustedClock(now, isPossible: now >= requirement.builtAt)
        }
    }
}

extension ClockState {
    /// The current state according to the kernel.
    @Sendable static func current() -> ClockState {
        switch SystemClock.isSynchronized() {
        case true?: .synchronized(maximumError: SystemClock.maximumError() ?? .max)
        case false?: .unsynchronized
        case nil: .unknown
        }
    }
}

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
        try CheckpointFile(path: places.endsFile).replace(with: end)
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
