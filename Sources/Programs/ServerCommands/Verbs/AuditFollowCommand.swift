import CommandLineInterface
import Verification
import WatchwordSystem

/// `audit follow`: passes each event on once, as it happens.
///
/// The command ends at a failure, because the next run continues after the last event.
enum AuditFollowCommand {
    /// The interval between queries for new events.
    private static let interval = Duration.seconds(1)
    /// The number of events after which the place is recorded.
    private static let batch = 500
    private static let journal = "/run/systemd/journal/socket"

    /// Runs on the main thread, so that signals wait until a batch is complete.
    ///
    /// The function never suspends, because Swift would then unblock the signals on this thread.
    @MainActor static func run(_ session: ServerSession) throws -> ExitCode {
        let arguments = session.arguments
        try arguments.forbid(.journal, .output)
        let signals = try SignalQueue([.terminate, .interrupt, .hangUp])
        let context = try ServerContext.open(ServerPaths(arguments), making: false)
        defer { context.close() }
        // Open the files only here, because root has become the server's user, who owns them.
        let record = try PositionFile(session.operand)
        let file = try arguments[.output].map(EventFile.init)
        let sink: EventSink =
            if let file { .file(file) } else if arguments.has(.journal) { .journal(journal) } else {
                .standardOutput(session.printer)
            }
        let verifier = context.verifier
        let (kept, written) = (try record.read(), try file?.last())
        if let kept {
            try check(kept.position, of: record.path, in: verifier) {
                PositionFile.Place($0) == kept
            }
        }
        if let file, let written {
            try check(written.position, of: file.path, in: verifier) { written.matches($0) }
        }
        var position = max(kept?.position ?? 0, written?.position ?? 0)
        let deleted = try lastDeleted(verifier)
        if position > 0, deleted > position {
            session.printer.warn(
                "the events after position \(position), up to \(deleted), were deleted before they "
                    + "were passed on; see --keep-events")
        }
        while true {
            let events = try waitForTask { [position] in
                try await verifier.events(after: position, limit: batch)
            }
            var last: ChainedEvent?
            let passing = Result { try sink.pass(events, noting: &last) }
            // Record the position after a failure, too: the next run must not pass these events on
            // again.
            if let last {
                try record.keep(PositionFile.Place(last))
                position = last.position
            }
            try passing.get()
            switch try signals.next() {
            case nil: if events.isEmpty { try signals.wait(timeout: interval) }
            case .hangUp?: try file?.reopen()
            default: return .done
            }
        }
    }

    /// Requires that the event that was last passed on matches the event at its position in this
    /// database.
    private static func check(
        _ position: UInt64, of path: String, in verifier: Verifier,
        _ matches: (ChainedEvent) -> Bool
    ) throws {
        let end = try waitForTask { try await verifier.chains() }.map(\.headPosition).max() ?? 0
        guard end >= position else { throw ServerFailure.otherEvents(path) }
        let next = try waitForTask {
            try await verifier.events(after: position - 1, limit: 1).first
        }
        // The event itself may have been deleted in the meantime.
        guard let next, next.position == position else { return }
        guard matches(next) else { throw ServerFailure.otherEvents(path) }
    }

    /// The position of the last event that was deleted because of its age; 0 if there is none.
    private static func lastDeleted(_ verifier: Verifier) throws -> UInt64 {
        let pruned = try waitForTask { try await verifier.chains() }
            .filter { $0.start.pruning != nil }
        return pruned.map(\.start.position).max() ?? 0
    }
}
