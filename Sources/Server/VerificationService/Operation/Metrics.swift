internal import Synchronization

/// Metrics for Prometheus.
///
/// All label values are names that the server chose, so their number is limited.
final class Metrics: Sendable {
    private struct Counts {
        var requests: [Request: Count] = [:]
        var inFlight = 0
        var slowGuessing: UInt64 = 0
        var spraying: UInt64 = 0
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

    /// Records credentials for which many wrong codes within a day were reported.
    func slowGuessing(_ count: Int) { counts.withLock { $0.slowGuessing += UInt64(count) } }

    /// Records that codes are denied for many subjects.
    func spraying() { counts.withLock { $0.spraying += 1 } }

    /// All metrics in Prometheus' text format, version 0.0.4.
    ///
    /// - Parameters:
    ///   - addresses: the number of addresses that the rate limiter tracks.
    ///   - deniedSubjects: the number of subjects for whom codes were denied.
    func text(addresses: Int, deniedSubjects: Int) -> String {
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
        text += Self.head(
            "watchword_slow_guessing_total", "counter",
            "Credentials with many wrong codes within a day.")
        text += "watchword_slow_guessing_total \(counts.slowGuessing)\n"
        text += Self.head(
            "watchword_denied_subjects", "gauge",
            "Subjects for whom codes were denied in the current ten minutes.")
        text += "watchword_denied_subjects \(deniedSubjects)\n"
        text += Self.head(
            "watchword_spraying_total", "counter",
            "Periods of ten minutes in which codes were denied for many subjects.")
        text += "watchword_spraying_total \(counts.spraying)\n"
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
