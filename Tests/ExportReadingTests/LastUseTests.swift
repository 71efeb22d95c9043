import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// The information in servers' files about the last accepted code.
///
/// The lines of the OATH users file were written by liboath 2.6.7 when it accepted these codes.
@Suite("Last use in servers' files")
struct LastUseTests {
    private static let key = "3132333435363738393031323334353637383930"
    /// The step of 2026-11-22 22:22:16 UTC.
    private static let step: UInt64 = 59_846_204

    private func entry(_ text: String) throws -> ExportedEntry {
        try #require(try read(text).entries.first)
    }

    private func factor(_ text: String) throws -> MovingFactor {
        try #require(try entry(text).credential).movingFactor
    }

    @Test(
        "the counter belongs to the last code if there is one, and otherwise to the next code",
        arguments: [
            ("", 0), ("\t3", 3), ("\t3\t969429\t2026-11-22T22:22:16L", 4),
            // The last code of another counter, or with other digits, changes nothing.
            ("\t3\t338314\t2026-11-22T22:22:16L", 3), ("\t3\t69429\t2026-11-22T22:22:16L", 3),
            ("\t18446744073709551615\t969429", UInt64.max),
        ])
    func counters(_ rest: String, _ expected: UInt64) throws {
        #expect(try factor("HOTP\tjoe\t-\t\(Self.key)\(rest)\n") == .counter(expected))
    }

    @Test(
        "the last used step is that of the last code, whatever the time zone of its timestamp",
        arguments: [
            "2026-11-22T22:22:16L", "2026-11-22T23:22:16L", "2026-11-23T12:22:16L",
            "2026-11-22T10:22:16L", "2026-11-22T22:13:00L",
        ])
    func steps(_ time: String) throws {
        let line = "HOTP/T30/6\tann\t-\t\(Self.key)\t0\t377788\t\(time)\n"
        #expect(try entry(line).lastUsedStep == Self.step)
    }

    @Test("if no step has the last code, the last used step is that of the timestamp as UTC")
    func otherCode() throws {
        let line = "HOTP/T30/6 ann - \(Self.key) 0 000000 2026-11-22T22:22:16L\n"
        #expect(try entry(line).lastUsedStep == Self.step)
        let minutes = "HOTP/T60 ann - \(Self.key) 0 000000 2026-11-22T22:22:16L\n"
        #expect(try entry(minutes).lastUsedStep == Self.step / 2)
    }

    @Test(
        "without a last code, or with a malformed time, the last used step is unknown",
        arguments: [
            "", "\t0", "\t0\t377788", "\t0\t377788\t2026-11-22T22:22:16Z",
            "\t0\t377788\t2026-11-32T22:22:16L", "\t0\t377788\t2026-11-22T22:22L",
        ])
    func unknownStep(_ rest: String) throws {
        #expect(try entry("HOTP/T30/6\tann\t-\t\(Self.key)\(rest)\n").lastUsedStep == nil)
    }

    @Test("the last used step of a PAM file is the greatest step that may not be reused")
    func disallowedSteps() throws {
        let text = """
            AAISEM2EKVTHPCEZ
            " RATE_LIMIT 3 30 1795386136
            " WINDOW_SIZE 17
            " DISALLOW_REUSE 59846202 59846204 59846203
            " TOTP_AUTH
            12345678
            23456789

            """
        #expect(try entry(text).lastUsedStep == Self.step)
        #expect(try read(text).emergencyCodeCount == 2)
        let unused = text.replacing(" 59846202 59846204 59846203", with: "")
        #expect(try entry(unused).lastUsedStep == nil)
        let counter = text.replacing("\" TOTP_AUTH", with: "\" HOTP_COUNTER 5")
        #expect(try entry(counter).lastUsedStep == nil)
        #expect(try factor(counter) == .counter(5))
    }
}
