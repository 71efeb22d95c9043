internal import Synchronization
package import Verification
internal import WatchwordCoding
package import WatchwordCryptography
internal import WatchwordSystem

/// Limits the log lines of requests without a valid API key, so that they do not fill the disk.
///
/// For each address and outcome, the first line of a minute is written at once. The others are
/// counted; ``takeDue(at:all:)`` returns one line for all others when the minute is over. The
/// number of addresses and outcomes is limited; further addresses share one line per outcome.
final class RefusalLog: Sendable {
    private struct Key: Hashable {
        /// The client's address; `nil` for all addresses without their own entry.
        let sender: NetworkAddress?
        let status: Int
        let outcome: String
        let cause: String?

        init(_ line: LogLine, sender: NetworkAddress?) {
            self.sender = sender
            status = line.status
            outcome = line.outcome
            cause = line.cause
        }
    }

    private struct Entry {
        /// The minute in which a line was last written.
        var written: Int64
        /// The last counted line; `count` is the number of lines not yet written.
        var last: LogLine?
        var count = 0
    }

    private let capacity: Int
    private let start: ContinuousClock.Instant
    private let entries = Mutex<[Key: Entry]>([:])

    /// - Parameter capacity: the maximum number of entries, not including the shared ones.
    init(capacity: Int = 1_024, start: ContinuousClock.Instant) {
        self.capacity = capacity
        self.start = start
    }

    var count: Int { entries.withLock { $0.count } }

    /// Records a line and returns the line to write now, if any.
    func enter(_ line: LogLine, at now: ContinuousClock.Instant) -> LogLine? {
        let minute = minute(now)
        let sender = NetworkAddress.sender(of: line.address)
        return entries.withLock { entries in
            let own = Key(line, sender: sender)
            let hasOwnEntry = entries[own] != nil || entries.count < capacity
            let key = hasOwnEntry ? own : Key(line, sender: nil)
            let line = hasOwnEntry ? line : line.fromSeveralAddresses
            var entry = entries[key] ?? Entry(written: .min)
            defer { entries[key] = entry }
            guard entry.written != minute else {
                entry.last = line
                entry.count += 1
                return nil
            }
            let count = entry.count + 1
            entry = Entry(written: minute)
            return line.standing(for: count)
        }
    }

    /// Removes and returns the summary lines that are due, and deletes entries unused for a minute.
    ///
    /// - Parameter all: whether to include the current minute.
    func takeDue(at now: ContinuousClock.Instant, all: Bool) -> [LogLine] {
        let minute = minute(now)
        return entries.withLock { entries in
            var due: [LogLine] = []
            for (key, entry) in entries where all || entry.written != minute {
                // The summary counts as this minute's line.
                entries[key] = entry.last == nil ? nil : Entry(written: minute)
                if let last = entry.last { due.append(last.standing(for: entry.count)) }
            }
            return due
        }
    }

    private func minute(_ now: ContinuousClock.Instant) -> Int64 {
        (now - start).components.seconds / 60
    }
}

extension NetworkAddress {
    /// The sender to which an address in text form belongs.
    ///
    /// All texts that are not addresses count as one sender.
    static func sender(of text: String) -> NetworkAddress {
        if let known = NetworkAddress(text) { return known.sender }
        guard let none = NetworkAddress(bytes: [UInt8](repeating: 0, count: 16)) else {
            preconditionFailure("16 bytes are an address")
        }
        return none
    }
}

/// The log line of a request: names that the server chose, numbers, and the sender.
///
/// It contains the template of the route but no path, query, header or body, so it cannot contain a
/// secret. The JSON printer escapes text that the sender chose.
package struct LogLine: Hashable, Sendable {
    /// When the response was ready.
    package let time: UnixTime
    /// The `Request-Id` of the response.
    package let requestID: String
    /// The method; `other` if no route supports it, `local` on a socket for logins.
    package let method: String
    /// The template of the route, or the name of the socket; `nil` if no route matches.
    package let route: String?
    /// The status of the response.
    package let status: Int
    /// The name of the problem, or the decision.
    package let outcome: String
    /// The name of the API client; `nil` for devices.
    package let client: String?
    /// The client's address; empty if the line represents several addresses.
    package private(set) var address: String
    /// Microseconds from the request to the response.
    package let duration: Int64
    /// The internal cause, such as `store-busy SQLITE_BUSY`.
    package let cause: String?
    /// The number of requests that the line represents; the other values are those of the last
    /// request.
    private(set) var count = 1

    /// A copy of the line that represents `count` requests.
    func standing(for count: Int) -> LogLine {
        var line = self
        line.count = count
        return line
    }

    /// A copy of the line that represents requests from several addresses.
    var fromSeveralAddresses: LogLine {
        var line = self
        line.address = ""
        return line
    }

    /// One line of JSON, including the line feed.
    package func rendered() -> SecretBytes {
        var members: [(String, JSONValue)] = [
            ("time", .text(time.text)), ("request", .text(requestID)), ("method", .text(method)),
        ]
        if let route { members.append(("route", .text(route))) }
        members += [("status", .number(Int64(status))), ("outcome", .text(outcome))]
        if let client { members.append(("client", .text(client))) }
        members += [("address", .text(address)), ("microseconds", .number(duration))]
        if let cause { members.append(("cause", .text(cause))) }
        if count > 1 { members.append(("count", .number(Int64(count)))) }
        return JSONValue.object(members).renderedLine()
    }
}
