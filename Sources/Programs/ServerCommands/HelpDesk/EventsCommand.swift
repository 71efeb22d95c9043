import CommandLineInterface
import Verification
import WatchwordCoding

/// `events`: lists the events of one subject or of all subjects.
enum EventsCommand {
    static func run(_ session: ServerSession) async throws -> ExitCode {
        let since = try session.arguments.value(
            .since, expected: "a time, such as 2026-11-21T01:09:30Z, or Unix seconds since 1970"
        ) { text in Timestamp(parsing: text).flatMap { $0.unixTime < 0 ? nil : $0 } }
        let subject = try session.arguments.value(
            .subject, expected: HelpDesk.expectedSubject, Subject.init)
        let desk = try HelpDesk(session.arguments)
        defer { desk.close() }
        let path = subject.map { HelpDesk.path(of: $0, "events") }
        let query: [(String, String?)] = [
            ("since", since.map { "\(UnixTime(seconds: $0.unixTime).milliseconds)" }),
            // Each page starts a process, and the longest page fits into a response.
            ("limit", "500"),
        ]
        var isEmpty = true
        try await desk.pages(path ?? "/v1/events", query, of: "events", next: "last") { events in
            isEmpty = isEmpty && events.isEmpty
            try session.print(events, as: row)
        }
        return isEmpty ? .no : .done
    }

    private static func row(_ event: JSONValue) -> [String] {
        let reason = event["reason"]?.string.map { " (\($0))" } ?? ""
        return [
            event.text("time"), event.text("kind") + reason, event.text("subject"),
            event.text("credential"),
            [event.text("client"), event.text("user_agent"), event.text("address")]
                .filter { !$0.isEmpty }.joined(separator: " "),
        ]
    }
}
