import CommandLineInterface
import JSONReading
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// The destination of the events.
enum EventSink {
    case standardOutput(Printer<ServerFailure>)
    /// The path of the socket of systemd's journal.
    case journal(String)
    case file(EventFile)

    /// Passes the events on, in order.
    ///
    /// - Parameter last: is set to the last event that was passed on, even if a later event fails.
    func pass(_ events: [ChainedEvent], noting last: inout ChainedEvent?) throws {
        guard !events.isEmpty else { return }
        switch self {
        case .standardOutput(let printer):
            for event in events { try printer.line(event.shown) }
            // Otherwise, after a power failure, the position on disk could be ahead of the output.
            try printer.deliver()
            last = events.last
        case .journal(let path):
            for event in events {
                let entry = event.journalEntry
                try naming(LocalSocket.send(entry.span, to: path)) { .journal($0) }
                last = event
            }
        case .file(let file):
            try file.append(events)
            last = events.last
        }
    }
}

/// A file of JSON lines, one for each event.
final class EventFile {
    let path: String
    private var file: AppendedFile

    /// More than the longest line.
    private static let limit = 1 << 16
    private static let lineFeed = UInt8(ascii: "\n")
    /// The beginning of each line.
    private static let beginning = Array("{\"position\":".utf8)

    init(_ path: String) throws {
        self.path = path
        file = try naming(AppendedFile(path)) { .input(path, $0) }
    }

    /// Opens the path again after the file was moved away.
    func reopen() throws {
        file = try naming(AppendedFile(path)) { .input(path, $0) }
        _ = try last()
    }

    /// An event in the file.
    struct Entry {
        let position: UInt64
        fileprivate let time: String

        fileprivate init?(_ line: [UInt8]) {
            let event = ifPossible(try readJSON(line.span))
            guard let position = event?["position"]?.wholeNumber, position > 0,
                let time = event?["time"]?.string
            else { return nil }
            self.position = position
            self.time = time
        }

        /// Whether this event, at the same position, may be the event in the file.
        func matches(_ event: ChainedEvent) -> Bool { event.shown["time"]?.string == time }
    }

    /// The last event in the file; `nil` if the file is empty.
    ///
    /// An incomplete last line is removed: its writer was killed.
    func last() throws -> Entry? {
        let end = try inFile(file.end(atMost: Self.limit))
        let complete = end.lastIndex(of: Self.lineFeed).map { end[..<$0] }
        let rest = end.dropFirst(complete.map { $0.count + 1 } ?? 0)
        guard rest.starts(with: Self.beginning.prefix(rest.count)) else {
            throw ServerFailure.notEvents(path)
        }
        var entry: Entry?
        if let complete {
            let line = complete.split(separator: Self.lineFeed, omittingEmptySubsequences: false)
                .last
            entry = Entry(Array(line ?? []))
            guard entry != nil else { throw ServerFailure.notEvents(path) }
        }
        if !rest.isEmpty { try inFile(file.cutOff(rest.count)) }
        return entry
    }

    /// Appends a line for each event.
    func append(_ events: [ChainedEvent]) throws {
        var lines: [UInt8] = []
        for event in events {
            event.shown.renderedLine().withBytes { lines += [UInt8](copying: $0) }
        }
        try inFile(file.append(lines.span))
    }

    private func inFile<Result>(
        _ call: @autoclosure () throws(SystemCallFailure) -> Result
    ) throws -> Result {
        try naming(call()) { .input(path, .system($0)) }
    }
}

extension ChainedEvent {
    /// The event's members; for an event of a newer server, only its position and time.
    fileprivate var shown: JSONValue {
        json
            ?? .object([
                ("position", .counter(position)), ("time", .text(time.text)),
                ("kind", .text("unknown")),
            ])
    }

    /// The event as an entry of systemd's journal, in the journal's native protocol.
    ///
    /// Each member is a field, with the prefix `WATCHWORD_`.
    var journalEntry: [UInt8] {
        let isNotification = event?.isNotification == true
        var fields = [
            ("MESSAGE", summary), ("MESSAGE_ID", Self.messageID),
            // LOG_NOTICE or LOG_INFO, and LOG_AUTHPRIV (`syslog(3)`).
            ("PRIORITY", isNotification ? "5" : "6"), ("SYSLOG_FACILITY", "10"),
            ("SYSLOG_IDENTIFIER", ServerVerb.program),
        ]
        for (name, value) in shown.members ?? [] {
            fields.append(("WATCHWORD_" + name.uppercased(), value.journalText))
        }
        // The form with a length is valid for every field, and no text can break it.
        return fields.flatMap { name, text in
            let (text, count) = (Array(text.utf8), UInt64(text.utf8.count))
            let length = (0..<8).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
            return Array("\(name)\n".utf8) + length + text + [UInt8(ascii: "\n")]
        }
    }

    /// The id of all entries (`systemd.journal-fields(7)`).
    private static let messageID = "0da2dc7add2e4729a9a44a19c6597b8f"

    /// The event in words.
    private var summary: String {
        guard let event else { return "event of a newer version" }
        var words = event.kind.rawValue
        if let reason = event.reason { words += " (\(reason.rawValue))" }
        if let subject = event.subject { words += " for \(subject.text.visibleOnTerminal)" }
        if !event.origin.address.isEmpty {
            words += " from \(event.origin.address.visibleOnTerminal)"
        }
        return words
    }
}

extension JSONValue {
    /// A value as the text of a field.
    fileprivate var journalText: String {
        switch self {
        case .number(let number): String(number)
        case .counter(let number): String(number)
        case .flag(let flag): flag ? "true" : "false"
        default: string ?? ""
        }
    }
}
