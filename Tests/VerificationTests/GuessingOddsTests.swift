import Foundation
import TestSupport
import Testing

@testable import Verification

@Suite("Guessing odds")
struct GuessingOddsTests {
    private let readme: String

    init() throws {
        readme = try String(
            contentsOf: PackageFolder.root.appending(path: "README.md"), encoding: .utf8)
    }

    @Test("V-01 each window's guessing odds stand in the README as the constants make them")
    func odds() throws {
        let policy = Policy.standard
        for profile in WindowProfile.allCases {
            let isDefault = profile == policy.profile ? " (default)" : ""
            #expect(
                readme.contains(
                    try row(
                        "`\(profile.rawValue)`\(isDefault)", profile.behind, profile.ahead,
                        profile.codeCount)))
        }
        #expect(
            readme.contains(
                try row(
                    "HOTP, look-ahead \(policy.lookAhead)", 0, policy.lookAhead,
                    policy.lookAhead + 1)))
    }

    @Test("V-01 the waits, the lives and the limits of the verifier stand in the README")
    func limits() throws {
        let policy = Policy.standard
        let day: Int64 = 86_400_000
        let slowest = Double(guesses(within: .max).last ?? 0) / Double(day)
        // A table's or a paragraph's lines may break anywhere.
        let text = readme.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for words in [
            "Five failures in a row are free", "30 s, doubling to 1 h",
            "The hundredth in a row disables the credential",
            String(format: "after %.1f days at the earliest", slowest),
            "\(guesses(within: day).count) guesses a day",
            "confirmed within \(Policy.enrolmentLifetime / 60_000) minutes",
            "redeemed within \(Policy.loginLifetime / 1_000) seconds",
            "given again for \(Policy.answerLifetime / 3_600_000) hours",
            "a subject has \(policy.maximalCredentials) credentials",
            "is denied after \(policy.idleLifetime / day) days without use",
            "after \(policy.absoluteLifetime / day) days in any case",
            "looks \(Policy.maximalDrift) steps to either side",
            "or \(Policy.resynchronizationCounters) counters ahead",
            "the third in a row ends the credential",
        ] {
            #expect(text.contains(words), "\(words)")
        }
        #expect(policy.freeFailures == 5 && policy.disablingFailures == 100)
        #expect(Policy.secretFailures == 3)
    }

    /// When each guess can be made, in milliseconds from the first, until none is left or the time
    /// is up.
    private func guesses(within limit: Int64) -> [Int64] {
        var throttle = Throttle()
        var now = UnixTime(seconds: 0)
        var made: [Int64] = []
        while true {
            now = now.adding(milliseconds: throttle.remainingWait(at: now) ?? 0)
            guard now.milliseconds < limit else { return made }
            made.append(now.milliseconds)
            if throttle.fail(at: now, policy: .standard) == .disabled { return made }
        }
    }

    /// A row of the README's table.
    private func row(_ name: String, _ behind: Int, _ ahead: Int, _ right: Int) throws -> String {
        func oneIn(_ count: Int) -> String {
            let number = (1_000_000 / Double(count * right)).rounded()
            return "1 in " + Int(number).formatted(.number.locale(Locale(identifier: "en_US")))
        }
        let counts = [
            Policy.standard.freeFailures, guesses(within: .max).count,
            guesses(within: 86_400_000).count,
        ]
        return "| \(name) | \(behind), \(ahead) | \(right) | "
            + counts.map(oneIn).joined(separator: " | ") + " |"
    }
}
