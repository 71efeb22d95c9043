internal import Synchronization
internal import Verification
internal import WatchwordSystem

/// Metrics for Prometheus.
///
/// All label values are names that the server chose, so their number is limited.
final class Metrics: Sendable {
    private struct Counts {
        var requests: [Request: UInt64] = [:]
        var durations: [String: Histogram] = [:]
        var inFlight = 0
        var spraying: UInt64 = 0
        var closed: [Closed: UInt64] = [:]
    }

    private struct Closed: Hashable {
        let operation: String
        let outcome: String
    }

    private struct Request: Hashable {
        let operation: String
        let status: Int
        let outcome: String
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
            counts.requests[request, default: 0] += 1
            counts.durations[operation, default: Histogram()].add(microseconds)
        }
    }

    /// Records that codes were denied for many subjects.
    func spraying() { counts.withLock { $0.spraying += 1 } }

    /// Records a connection that was closed before anything was read.
    func close(operation: String, outcome: String) {
        let closed = Closed(operation: operation, outcome: outcome)
        counts.withLock { $0.closed[closed, default: 0] += 1 }
    }

    /// All metrics in Prometheus' text format, version 0.0.4.
    func text(with readings: Readings) -> String {
        let counts = counts.withLock { $0 }
        let requests = counts.requests.sorted {
            ($0.key.operation, $0.key.status, $0.key.outcome)
                < ($1.key.operation, $1.key.status, $1.key.outcome)
        }
        let durations = counts.durations.sorted { $0.key < $1.key }
        let families: [Family] = [
            Family(
                "watchword_requests_total", .counter, "Requests answered, by outcome.",
                requests.map { request, count in
                    let labels = [
                        ("operation", request.operation), ("status", "\(request.status)"),
                        ("outcome", request.outcome),
                    ]
                    return Sample(labels, "\(count)")
                }),
            Family(
                "watchword_request_duration_seconds", .histogram,
                "Time from a request to its response.",
                durations.flatMap { operation, histogram in
                    histogram.samples([("operation", operation)])
                }),
            Family(
                "watchword_requests_in_flight", .gauge, "Requests not yet answered.",
                "\(counts.inFlight)"),
            Family(
                "watchword_spraying_total", .counter,
                "Periods of ten minutes in which codes were denied for many subjects.",
                "\(counts.spraying)"),
            Family(
                "watchword_closed_connections_total", .counter,
                "Local connections that were closed before anything was read.",
                counts.closed.sorted {
                    ($0.key.operation, $0.key.outcome) < ($1.key.operation, $1.key.outcome)
                }.map { closed, count in
                    Sample(
                        [("operation", closed.operation), ("outcome", closed.outcome)], "\(count)")
                }),
        ]
        return (families + readings.families).map(\.text).joined()
    }

    /// The other values that `/metrics` shows, at the time of the request.
    struct Readings {
        /// The number of addresses that the rate limiter tracks.
        let addresses: Int
        /// The number of subjects for whom codes were denied.
        let deniedSubjects: Int
        /// The number of events of each kind that this server wrote.
        let events: [Event.Kind: UInt64]
        /// Whether `/readyz` answers 200.
        let isReady: Bool
        let upkeep: Upkeep

        fileprivate var families: [Family] {
            [
                Family(
                    "watchword_limited_addresses", .gauge,
                    "Client addresses tracked by the rate limiter.", "\(addresses)"),
                Family(
                    "watchword_denied_subjects", .gauge,
                    "Subjects for whom codes were denied in the current ten-minute window.",
                    "\(deniedSubjects)"),
                // A kind without events has the value 0, so that its first event is an increase.
                Family(
                    "watchword_events_total", .counter, "Events of the audit log, by kind.",
                    Event.Kind.allCases.map {
                        Sample([("kind", $0.rawValue)], "\(events[$0] ?? 0)")
                    }),
                Family(
                    "watchword_ready", .gauge, "Whether the server is ready to decide.",
                    isReady ? "1" : "0"),
                Family(
                    "watchword_database_trouble", .gauge,
                    "Whether the database has a fault that does not stop it from answering.",
                    upkeep.hasTrouble ? "1" : "0"),
                Family(
                    "watchword_backup_timestamp_seconds", .gauge,
                    "Time of the last backup; 0 if there was none.", upkeep.lastBackup),
                Family(
                    "watchword_checkpoint_timestamp_seconds", .gauge,
                    "When the end of the event chain was last recorded, or the server started.",
                    upkeep.lastCheckpoint),
                Family(
                    "watchword_build_info", .gauge, "The version of the server.",
                    [Sample([("version", ProgramVersion.text)], "1")]),
            ]
        }
    }
}

/// The distribution of the durations of requests: the number of requests within each limit.
private struct Histogram {
    /// The upper limits in microseconds, and as text in seconds.
    private static let limits: [(microseconds: Int64, text: String)] = [
        (1_000, "0.001"), (2_500, "0.0025"), (5_000, "0.005"), (10_000, "0.01"),
        (25_000, "0.025"), (50_000, "0.05"), (100_000, "0.1"), (250_000, "0.25"),
        (500_000, "0.5"), (1_000_000, "1"), (2_500_000, "2.5"), (5_000_000, "5"),
    ]

    /// The number of requests between a limit and the previous limit; requests beyond the last
    /// limit are counted only in ``total``.
    private var counts = [UInt64](repeating: 0, count: Self.limits.count)
    private var total: UInt64 = 0
    private var microseconds: Int64 = 0

    mutating func add(_ duration: Int64) {
        total += 1
        microseconds += duration
        if let index = Self.limits.firstIndex(where: { duration <= $0.microseconds }) {
            counts[index] += 1
        }
    }

    func samples(_ labels: [(String, String)]) -> [Sample] {
        var samples: [Sample] = []
        var sum: UInt64 = 0
        for (limit, count) in zip(Self.limits, counts) {
            sum += count
            samples.append(Sample(labels + [("le", limit.text)], "\(sum)", suffix: "_bucket"))
        }
        return samples + [
            Sample(labels + [("le", "+Inf")], "\(total)", suffix: "_bucket"),
            Sample(labels, Self.seconds(microseconds), suffix: "_sum"),
            Sample(labels, "\(total)", suffix: "_count"),
        ]
    }

    private static func seconds(_ microseconds: Int64) -> String {
        let rest = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)."
            + String(repeating: "0", count: 6 - rest.count) + rest
    }
}

/// A metric with its samples.
private struct Family {
    enum Kind: String { case counter, gauge, histogram }

    private let name: String
    private let kind: Kind
    private let help: String
    private let samples: [Sample]

    init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.help = help
        self.samples = samples
    }

    init(_ name: String, _ kind: Kind, _ help: String, _ value: String) {
        self.init(name, kind, help, [Sample([], value)])
    }

    /// A time metric; no sample if the time is `nil`.
    init(_ name: String, _ kind: Kind, _ help: String, _ time: UnixTime?) {
        let sample = time.map { Sample([], "\($0.seconds)") }
        self.init(name, kind, help, sample.map { [$0] } ?? [])
    }

    var text: String {
        "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
            + samples.map { name + $0.text + "\n" }.joined()
    }
}

/// A value of a metric.
private struct Sample {
    /// The part of the sample after the metric's name.
    let text: String

    init(_ labels: [(String, String)], _ value: String, suffix: String = "") {
        let list = labels.map { "\($0)=\"\($1)\"" }.joined(separator: ",")
        text = suffix + (labels.isEmpty ? "" : "{\(list)}") + " " + value
    }
}
