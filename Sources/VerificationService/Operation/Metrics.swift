internal import Synchronization

/// Metrics for Prometheus.
///
/// All label values are names that the server chose, so their number is limited.
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

    /// Records the arrival of a request.
    func begin() { counts.withLock { $0.inFlight += 1 } }

    /// Records a response.
    ///
    /// - Parameter outcome: the name of the problem, or the decision.
    func end(operation: String, status: Int, outcome: String, microseconds: Int64) {
        counts.withLock { counts in
            counts.inFlight -= 1
            let request = Request(operation: operation, status: status, outcome: outcome)
            counts.requests[request, default: Count()].add(microseconds)
        }
    }

    /// All metrics in Prometheus' text format, version 0.0.4.
    ///
    /// - Parameter addresses: the number of addresses that the rate limiter tracks.
    func text(addresses: Int) -> String {
        let counts = counts.withLock { $0 }
        let sorted = counts.requests.sorted {
            ($0.key.operation, $0.key.status, $0.key.outcome)
                < ($1.key.operation, $1.key.status, $1.key.outcome)
        }
        var text = Self.head(
            "watchword_requests_total", "counter", "Requests answered, by outcome.")
        for (request, count) in sorted {
            text += "watchword_requests_total\(Self.labels(request)) \(count.requests)\n"
        }
        text += Self.head(
            "watchword_request_seconds_total", "counter", "Time spent on requests.")
        for (request, count) in sorted {
            text +=
                "watchword_request_seconds_total\(Self.labels(request)) "
                + "\(Self.seconds(count.microseconds))\n"
        }
        text += Self.head("watchword_requests_in_flight", "gauge", "Requests not yet answered.")
        text += "watchword_requests_in_flight \(counts.inFlight)\n"
        text += Self.head(
            "watchword_limited_addresses", "gauge", "Client addresses tracked by the rate limiter.")
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
