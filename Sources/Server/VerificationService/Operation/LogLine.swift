package import Verification
internal import WatchwordCoding
package import WatchwordCryptography

/// The log line of a request: names that the server chose, numbers, and the sender.
///
/// It contains the template of the route but no path, query, header or body, so it cannot contain a
/// secret. The JSON printer escapes text that the sender chose.
package struct LogLine: Hashable, Sendable {
    /// When the response was ready.
    package let time: UnixTime
    /// The `Request-Id` of the response.
    package let requestID: String
    /// The method; `other` if no route supports it.
    package let method: String
    /// The template of the route; `nil` if there is no such route.
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
    /// The number of requests that the line represents; the other values are those of the last one.
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
