import CommandLineInterface
import PostgreSQLStore
import SQLStore
import SQLiteStore
import Verification
import VerificationService
import WatchwordSystem

/// `backup` and `restore`.
enum BackupCommand {
    static func backup(_ session: ServerSession) throws -> ExitCode {
        let path = session.operand
        let places = try ServerPaths(session.arguments)
        guard case .sqlite(let database) = places.database else { throw ServerFailure.noCopies }
        let key = try KeyFile.opening(places, making: false).ring().auditKey
        let store = try naming(SQLiteVerificationStore(opening: database, key: key)) {
            .database(places.database, $0)
        }
        defer { store.close() }
        try naming(store.backUp(to: path, now: ServerContext.now())) {
            .database(.sqlite(path: path), $0)
        }
        let (record, nothing) = (places.backupRecord, [UInt8]())
        try naming(OutputFile.write(nothing.span, to: record, replacing: true)) {
            .input(record, $0)
        }
        return .done
    }

    static func restore(_ session: ServerSession) async throws -> ExitCode {
        let places = try ServerPaths(session.arguments)
        switch places.database {
        case .sqlite(let database):
            guard !session.operand.isEmpty else { throw ServerFailure.needsFile }
            return try await restore(session.operand, to: database, places, session)
        case .postgreSQL(let address):
            guard session.operand.isEmpty else { throw ServerFailure.takesNoFile }
            return try settle(address, places, session)
        }
    }

    private static func restore(
        _ copy: String, to path: String, _ places: ServerPaths, _ session: ServerSession
    ) async throws -> ExitCode {
        let (keys, options) = try decide(places, session)
        let report = try naming(
            SQLiteVerificationStore.restore(
                from: copy, to: path, key: keys.ring().auditKey, options)
        ) { error in
            // This error concerns the database instead of the copy.
            .database(error == .exists ? places.database : .sqlite(path: copy), error)
        }
        try print(report, session)
        if needsWarning(report, session) {
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
        try await warnAboutMissingKeys(places, keys, session)
        return .done
    }

    /// Makes a PostgreSQL database usable again after it was rolled back to an earlier state.
    private static func settle(
        _ address: PostgreSQLAddress, _ places: ServerPaths, _ session: ServerSession
    ) throws -> ExitCode {
        let (keys, options) = try decide(places, session)
        let (report, end) = try naming(
            PostgreSQLVerificationStore.settle(address, key: keys.ring().auditKey, options)
        ) { .database(places.database, $0) }
        // With the ends recorded before the rollback, the server would reject this database.
        try CheckpointFile(path: places.endsFile).replace(with: end)
        try print(report, session)
        guard needsWarning(report, session) else { return .done }
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

    /// The keys, and the restore options from the arguments.
    private static func decide(
        _ places: ServerPaths, _ session: ServerSession
    ) throws -> (keys: KeyFile, options: RestoreOptions) {
        let arguments = session.arguments
        let clock = try RestoreClock(arguments)
        // Only root may be able to read this file, so it is read before root becomes the server's
        // user.
        let ended = try AuditEndedCommand.named(by: arguments)
        return (
            try KeyFile.opening(places, making: false),
            RestoreOptions(
                now: clock.now, trustsClock: clock.isTrusted,
                keepsClients: arguments.has(.keepClients), ended: ended ?? [])
        )
    }

    private static func print(_ report: RestoreReport, _ session: ServerSession) throws {
        try session.printer.line(
            "Credentials kept: \(report.kept). Ended, to be enrolled again: \(report.ended). "
                + "API keys revoked: \(report.clientsRevoked).")
    }

    /// Whether credentials that were revoked may be valid again.
    private static func needsWarning(_ report: RestoreReport, _ session: ServerSession) -> Bool {
        report.kept > 0 && !session.arguments.has(.ended)
    }

    /// Warns of keys that the copy needs but the key file lacks, because they have been retired.
    private static func warnAboutMissingKeys(
        _ places: ServerPaths, _ keys: KeyFile, _ session: ServerSession
    ) async throws {
        let context = try ServerContext.open(places, keys, making: false)
        defer { context.close() }
        let known = Set(context.keys.ring().versions.map(\.id))
        let usage = try await context.verifier.keyUsage()
        for usage in usage where !known.contains(usage.keyID) {
            let count = usage.credentials.values.reduce(0, +)
            try session.printer.line(
                "Key \(usage.keyID.number) is missing from \(places.keyFile). Credentials that use it: "
                    + "\(count). Install the key file from the time of the copy; until "
                    + "then, these credentials are always denied."
            )
        }
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
    ) throws {
        isTrusted = arguments.has(.clockIsRight)
        self.now = now
        let requirement = ClockRequirement(
            profile: .wide, keeper: isTrusted ? .administrator : .kernel)
        guard requirement.complaint(now: now, state: state) == nil else {
            throw ServerFailure.untrustedClock(now, isPossible: now >= ClockRequirement.builtAt)
        }
    }
}

extension ClockState {
    @Sendable static func current() -> ClockState {
        switch SystemClock.isSynchronized() {
        case true?: .synchronized(maximumError: SystemClock.maximumError() ?? .max)
        case false?: .unsynchronized
        case nil: .unknown
        }
    }
}
