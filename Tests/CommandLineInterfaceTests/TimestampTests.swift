import Foundation
import TestSupport
import Testing

@testable import CommandLineInterface

struct TimestampTests {
    @Test(
        "RFC 3339 and Unix seconds are parsed",
        arguments: [
            ("0", 0), ("-1", -1), ("1970-01-01T00:00:00Z", 0),
            ("2026-11-21T01:09:30Z", 1_795_223_370),
            ("2026-11-21t02:09:30+01:00", 1_795_223_370),
            ("2026-11-20 20:09:30.75-05:00", 1_795_223_370),
            ("2000-02-29T00:00:00Z", 951_782_400), ("1969-12-31T23:59:59Z", -1),
            ("1985-04-12T23:20:50.52Z", 482_196_050), ("2603-10-11T11:33:20Z", 20_000_000_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200), ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("0000-01-01T00:00:00+23:59", -62_167_305_540),
            ("9999-12-31T23:59:59Z", 253_402_300_799), ("9999-12-31T23:59:60Z", 253_402_300_800),
            ("9999-12-31T23:59:59-23:59", 253_402_387_139),
            ("2100-02-28T23:59:60Z", 4_107_542_400), ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("2016-12-31T23:59:60Z", 1_483_228_800), ("2017-01-01T00:00:00Z", 1_483_228_800),
        ])
    func reading(_ text: String, _ seconds: Int64) {
        #expect(Timestamp(parsing: text)?.unixTime == seconds)
    }

    @Test(
        "text that is neither an RFC 3339 timestamp nor Unix seconds is refused",
        arguments: [
            "", "now", "+5", "1.5", "2026-11-21", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
            "2026-00-10T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T01:60:00Z",
            "2026-11-21T01:09:61Z", "2026-11-21T01:09:30", "2026-11-21T01:09:30.Z",
            "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-12-32T00:00:00Z",
            "2026-11-21T01:09:30Zx", "2026-11-21T01:09:30+1:00", "99999999999999999999",
        ])
    func refusing(_ text: String) {
        #expect(Timestamp(parsing: text) == nil)
    }

    @Test("formatted times across 3,800 years parse to the same time")
    func roundTrip() {
        for seconds in stride(from: Int64(-60_000_000_000), to: 60_000_000_000, by: 86_399_917) {
            #expect(Timestamp(parsing: Timestamp(unixTime: seconds).text)?.unixTime == seconds)
        }
    }

    @Test("times are formatted as RFC 3339 in UTC")
    func writing() {
        #expect(Timestamp(unixTime: 1_795_223_370).text == "2026-11-21T01:09:30Z")
        #expect(Timestamp(unixTime: .min).text == "-292277022657-01-27T08:29:52Z")
        #expect(Timestamp(unixTime: .max).text == "292277026596-12-04T15:30:07Z")
        #expect(Timestamp(unixTime: -1).text == "1969-12-31T23:59:59Z")
        #expect(Timestamp(unixTime: -62_167_219_201).text == "-0001-12-31T23:59:59Z")
        #expect(Timestamp(unixTime: 253_402_300_800).text == "10000-01-01T00:00:00Z")
    }

    @Test("only the years 0 to 9999 can be written in RFC 3339")
    func writable() {
        for seconds: Int64 in [-62_167_219_200, 0, 253_402_300_799] {
            #expect(Timestamp(unixTime: seconds).isWritable)
        }
        for seconds: Int64 in [.min, -62_167_219_201, 253_402_300_800, .max] {
            #expect(!Timestamp(unixTime: seconds).isWritable)
        }
    }

    @Test(
        "a time zone that counts leap seconds does not change the code for a given time",
        .enabled(
            if: FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/right/UTC"),
            "tzdata without right/"))
    func leapSecondZone() throws {
        let program = ForeignProgram(path: BuiltProgram.path("watchword"))
        let codes = try ["UTC", "right/UTC"].map { zone in
            // The first second of a time step.
            let outcome = try program.run(
                ["totp", "--secret-file", "-", "--json", "--at", "2026-11-21T01:09:30Z"],
                input: Array("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n".utf8),
                environment: ["TZ": zone, "HOME": "/nonexistent"])
            #expect(outcome.status == 0)
            return outcome.text
        }
        #expect(codes[0].contains("2026-11-21T01:10:00Z"))
        #expect(codes[0] == codes[1])
    }
}
