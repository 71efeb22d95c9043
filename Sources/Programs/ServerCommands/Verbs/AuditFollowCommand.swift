import CommandLineInterface
import Verification
import WatchwordSystem

/// `audit follow`: passes each event on once, as it happens.
///
/// It does not survive a failure, because the next run continues behind the last event.
enum AuditFollowCommand {
    /// How often the database is asked for new events.
    private static let interval = Duration.seconds(1)
    /// The number of events after which the place is recorded.
    private static let batch = 500
    private static let journal = "/run/systemd/journal/socket"

    /// Runs on the main thread, so that signals wait until a batch is complete.
    @MainActor static func run(_ session: ServerSession) async throws -> ExitCode {
        let arguments = session.arguments
        try arguments.forbid(.journal, .output)
        let signals = try SignalQueue([.terminate, .interrupt, .hangUp])
        let record = try PositionFile(session.operand)
        let file = try arguments[.output].map(EventFile.init)
        let sink: EventSink =
            if let file { .file(file) } else if arguments.has(.journal) { .journal(journal) } else {
                .standardOutput(session.printer)
            }
        let context = try ServerContext.open(ServerPaths(arguments), making: false)
        defer { context.close() }
        let kept = try record.read()
        if let kept { try await check(kept, record.path, in: context.verifier, session.printer) }
        var position = max(kept?.position ?? 0, try file?.lastPosition() ?? 0)
        while true {
            let events = try await context.verifier.events(after: position, limit: batch)
            if let last = events.last {
                try sink.pass(events)
                try record.keep(PositionFile.Place(last))
                position = last.position
            }
            switch try signals.next() {
            case nil: if events.isEmpty { try signals.wait(timeout: interval) }
            case .hangUp?: try file?.reopen()
            default: return .done
            }
        }
    }

    /// Requires that a place is one among the events of this database, and warns if events after it
    /// were deleted.
    private static func check(
        _ place: PositionFile.Place, _ path: String, in verifier: Verifier,
        _ printer: Printer<ServerFailure>
    ) async throws {
        let chains = try await verifier.chains()
        let next = try await verifier.events(after: place.position - 1, limit: 1).first
        let isSame = next?.position != place.position || next.map(PositionFile.Place.init) == place
        let end = chains.map(\.headPosition).max() ?? 0
        guard isSame, end >= place.position else { throw ServerFailure.otherEvents(path) }
        let pruned = chains.filter { $0.start.pruning != nil }.map(\.start.position).max() ?? 0
        if pruned > place.position {
            printer.warn(
                "the events after position \(place.position), up to \(pruned), were deleted before "
                    + "they were passed on; see --keep-events")
        }
    }
}
