internal import Synchronization

/// Counts what happens, for Prometheus; labels are names of our own, so their number is limited.
final class Metrics: Sendable {
    private struct Counts {
        var requests: [Request: Count] = [:]
        var inFlight = 0
    }

    private struct Request: Hashable {
        let operation: String
        let status: Int
        let outcome: String
    }

    private struct Count {
        var requests: UInt64 = 0
        var microseconds: Int64 = 0

        mutating func add(_ duration: Int64) {
            requests += 1
            microseconds += duration
        }
    }

    private let counts = Mutex(Counts())

    /// A request has come in.
    func begin() { counts.withLock { $0.inFlight += 1 } }

    /// A request is answered.
    ///
    /// - Parameter outcome: a problem's name, or what was decided.
    func end(operation: String, status: Int, outcome: String, microseconds: Int64) {
        counts.withLock { counts in
            counts.inFlight -= 1
            let request = Request(operation: operation, status: status, outcome: outcome)
            counts.requests[request, default: Count()].add(microseconds)
        }
    }

    /// Everything in Prometheus' text format, version 0.0.4.
    ///
    /// - Parameter addresses: how many client addresses are remembered.
    func text(addresses: Int) -> String {
        let counts = counts.withLock { $0 }
        let sorted = counts.requests.sorted {
            ($0.key.operation, $0.key.status, $0.key.outcome)
                < ($1.key.operation, $1.key.status, $1.key.outcome)
        }
        var text = Self.head(
            "watchword_requests_total", "counter", "Requests answered, by how they ended.")
        for (request, count) in sorted {
            text += "watchword_requests_total\(Self.labels(request)) \(count.requests)\n"
        }
        text += Self.head(
            "watchword_request_seconds_total", "counter", "Time that requests took.")
        for (request, count) in sorted {
            text +=
                "watchword_request_seconds_total\(Self.labels(request)) "
                + "\(Self.seconds(count.microseconds))\n"
        }
        text += Self.head("watchword_requests_in_flight", "gauge", "Requests not yet answered.")
        text += "watchword_requests_in_flight \(counts.inFlight)\n"
        text += Self.head(
            "watchword_limited_addresses", "gauge", "Client addresses that are remembered.")
        text += "watchword_limited_addresses \(addresses)\n"
        return text
    }

    private static func head(_ name: String, _ type: String, _ help: String) -> String {
        "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private static func labels(_ request: Request) -> String {
        "{operation=\"\(request.operation)\",status=\"\(request.status)\","
            + "outcome=\"\(request.outcome)\"}"
    }

    private static func seconds(_ microseconds: Int64) -> String {
        let rest = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)."
            + String(repeating: "0", count: 6 - rest.count) + rest
    }
}
