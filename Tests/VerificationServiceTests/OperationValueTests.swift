import JSONReading
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

@testable import VerificationService

struct OperationValueTests {
    @Test(
        "times are formatted as in RFC 3339",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
            (-62_135_596_800_001, "0000-12-31T23:59:59.999Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (253_402_300_799_998, "9999-12-31T23:59:59.998Z"),
            (1_795_262_405_007, "2026-11-21T12:00:05.007Z"),
            (Int64.max, "9999-12-31T23:59:59.999Z"), (Int64.min, "0000-01-01T00:00:00.000Z"),
        ])
    func moments(_ milliseconds: Int64, _ text: String) {
        #expect(UnixTime(milliseconds: milliseconds).text == text)
        #expect(
            TextForm.time.pattern.map { text.contains(/\d{4}-\d\d-\d\dT/) && !$0.isEmpty } == true)
    }

    @Test("V-30 a log line stays one line, regardless of the names that clients send")
    func logLine() throws {
        let line = LogLine(
            time: UnixTime(milliseconds: 0), requestID: "rq_x", method: "POST",
            route: "/v1/verifications", status: 200, outcome: "denied",
            client: "a\"\r\nb\u{2028}", address: "1.2.3.4\n{\"forged\":true}\u{1B}[31m",
            duration: 12, cause: nil
        ).rendered().text
        #expect(line.utf8.filter { $0 == 0x0A }.count == 1 && line.hasSuffix("}\n"))
        #expect(!line.contains("\r") && !line.contains("\u{1B}") && !line.contains("\u{2028}"))
        let read = try readJSON(Array(line.utf8).span)
        #expect(read["address"]?.string == "1.2.3.4\n{\"forged\":true}\u{1B}[31m")
        #expect(
            read.members?.map(\.0) == [
                "time", "request", "method", "route", "status", "outcome", "client", "address",
                "microseconds",
            ])
    }

    @Test("T-01 a clock that is unsynchronised or set before the build date is reported")
    func clock() {
        let now = ClockRequirement.builtAt
        let wide = ClockRequirement(profile: .wide)
        #expect(wide.tolerance == 30_000)
        #expect(ClockRequirement(profile: .rfc).tolerance == 15_000)
        #expect(ClockRequirement(profile: .strict).tolerance == 15_000)
        let fine = ClockState.synchronized(maximumError: 30_000)
        #expect(wide.complaint(now: now, state: fine) == nil)
        #expect(
            wide.complaint(now: now, state: .synchronized(maximumError: 30_001))
                == .tooInaccurate)
        #expect(
            wide.complaint(now: now.adding(milliseconds: -1), state: fine) == .beforeBuild)
        #expect(wide.complaint(now: now, state: .unsynchronized) == .unsynchronized)
        #expect(wide.complaint(now: now, state: .unknown) == .unknown)
        let switchedOff = ClockRequirement(profile: .wide, keeper: .administrator)
        #expect(switchedOff.complaint(now: now, state: .unsynchronized) == nil)
        #expect(
            switchedOff.complaint(now: now.adding(milliseconds: -1), state: fine)
                == .beforeBuild)
    }

    @Test("T-01 in a container, a server whose clock has no kernel report can be ready")
    func hostClock() {
        let now = ClockRequirement.builtAt
        let (kernel, host) = (
            ClockRequirement(profile: .wide), ClockRequirement(profile: .wide, keeper: .host)
        )
        for state in [ClockState.unsynchronized, .unknown] {
            #expect(kernel.obstacle(now: now, state: state) != nil)
            #expect(host.obstacle(now: now, state: state) == nil)
            #expect(host.doubt(now: now, state: state) != nil)
            #expect(kernel.doubt(now: now, state: state) == nil)
            // No irreversible action depends on such a clock.
            #expect(
                host.complaint(now: now, state: state) == kernel.complaint(now: now, state: state))
        }
        // If the kernel reports a state, the report counts.
        let inaccurate = ClockState.synchronized(maximumError: 30_001)
        #expect(host.obstacle(now: now, state: inaccurate) == .tooInaccurate)
        let past = now.adding(milliseconds: -1)
        #expect(host.obstacle(now: past, state: .unknown) == .beforeBuild)
        let fine = ClockState.synchronized(maximumError: 30_000)
        #expect(host.obstacle(now: now, state: fine) == nil)
        #expect(host.doubt(now: now, state: fine) == nil)
        #expect(kernel.obstacle(now: now, state: fine) == nil)
    }

    /// The lines of `/metrics`.
    private func lines(
        of metrics: Metrics, isReady: Bool = true, upkeep: Upkeep = Upkeep()
    ) -> [Substring] {
        let text = metrics.text(
            with: Metrics.Readings(
                addresses: 4, deniedSubjects: 7, events: [.locked: 2], isReady: isReady,
                upkeep: upkeep))
        #expect(text.hasSuffix("\n"))
        return text.split(separator: "\n")
    }

    @Test("metrics are Prometheus text with a counter per outcome")
    func metrics() {
        let metrics = Metrics()
        for outcome in ["accepted", "wrong", "wrong"] {
            metrics.begin()
            metrics.end(operation: "verify", status: 200, outcome: outcome, microseconds: 1)
        }
        metrics.begin()
        metrics.spraying()
        metrics.close(operation: "self", outcome: "foreign-user")
        let lines = lines(of: metrics)
        for line in [
            #"watchword_requests_total{operation="verify",status="200",outcome="accepted"} 1"#,
            #"watchword_requests_total{operation="verify",status="200",outcome="wrong"} 2"#,
            "watchword_requests_in_flight 1", "watchword_limited_addresses 4",
            "watchword_denied_subjects 7", "watchword_spraying_total 1",
            #"watchword_closed_connections_total{operation="self",outcome="foreign-user"} 1"#,
            #"watchword_events_total{kind="locked"} 2"#,
            #"watchword_events_total{kind="guessing"} 0"#,
            #"watchword_build_info{version="\#(ProgramVersion.text)"} 1"#,
            "# TYPE watchword_requests_total counter",
        ] { #expect(lines.contains(Substring(line)), "\(line)") }
        #expect(
            lines.count(where: { $0.hasPrefix("watchword_events_total{") })
                == Event.Kind.allCases.count)
    }

    @Test("a request counts in the bucket of its limit and in all larger buckets")
    func latency() {
        let metrics = Metrics()
        for microseconds: Int64 in [0, 1_000, 1_001, 5_000_000, 5_000_001] {
            metrics.begin()
            metrics.end(
                operation: "verify", status: 200, outcome: "wrong", microseconds: microseconds)
        }
        let name = "watchword_request_duration_seconds"
        let found = lines(of: metrics).filter { $0.hasPrefix(name) }.map {
            $0.dropFirst(name.count)
        }
        func bucket(_ limit: String, _ count: Int) -> Substring {
            #"_bucket{operation="verify",le="\#(limit)"} \#(count)"#
        }
        let limits = [
            "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5",
        ]
        #expect(
            found == [bucket("0.001", 2)] + limits.map { bucket($0, 3) }
                + [
                    bucket("5", 4), bucket("+Inf", 5),
                    #"_sum{operation="verify"} 10.002002"#, #"_count{operation="verify"} 5"#,
                ])
    }

    @Test("the metrics contain the maintenance state of the database, as far as it is known")
    func upkeep() {
        let unknown = lines(of: Metrics(), isReady: false)
        #expect(unknown.contains("watchword_ready 0"))
        #expect(unknown.contains("watchword_database_trouble 0"))
        #expect(!unknown.contains { $0.contains("timestamp_seconds ") && !$0.hasPrefix("#") })
        var upkeep = Upkeep()
        upkeep.lastBackup = UnixTime(seconds: 0)
        upkeep.lastCheckpoint = UnixTime(milliseconds: 1_795_262_405_007)
        upkeep.hasTrouble = true
        let known = lines(of: Metrics(), upkeep: upkeep)
        for line in [
            "watchword_ready 1", "watchword_database_trouble 1",
            "watchword_backup_timestamp_seconds 0",
            "watchword_checkpoint_timestamp_seconds 1795262405",
        ] { #expect(known.contains(Substring(line)), "\(line)") }
    }
}
