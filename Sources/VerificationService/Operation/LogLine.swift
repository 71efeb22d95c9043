package import Cryptography
internal import JSONText
package import Verification

/// What is written down of a request: names of our own, figures, and where it came from.
///
/// There is no path in it but the route's template, no query, no header and no body, so that no
/// secret can be in it; what a stranger chose is escaped by the printing of JSON.
package struct LogLine: Hashable, Sendable {
    /// When the answer was ready.
    package let time: UnixTime
    /// The request's own name, as the answer's `Request-Id` says it.
    package let requestID: String
    /// The method; `other` for one that no route has.
    package let method: String
    /// The route's template; nothing when there is no such route.
    package let route: String?
    /// The status of the answer.
    package let status: Int
    /// How it ended: the problem's name, or what was decided.
    package let outcome: String
    /// What is called so by people who added the API key; nothing for devices.
    package let client: String?
    /// The client's address; empty when there are several.
    package private(set) var address: String
    /// Microseconds from the request to the answer.
    package let duration: Int64
    /// What went wrong inside, such as `busy SQLITE_BUSY`.
    package let cause: String?
    /// How many requests the line stands for; all but the count is the last one's.
    private(set) var count = 1

    /// The line as one that stands for so many requests.
    func standing(for count: Int) -> LogLine {
        var line = self
        line.count = count
        return line
    }

    /// The line as one that stands for requests from several addresses.
    var fromSeveralAddresses: LogLine {
        var line = self
        line.address = ""
        return line
    }

    /// One line of JSON, with its line end.
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
