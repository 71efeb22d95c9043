import Foundation
import TestSupport
import Testing

@testable import Verification

@Suite("Guessing odds")
struct GuessingOddsTests {
    private let page: String

    init() throws {
        page = try String(
            contentsOf: PackageFolder.root.appending(
                path: "Sources/Verification/EnrolledSecrets.md"), encoding: .utf8)
    }

    @Test("V-01 the documentation states the guessing odds that follow from the constants")
    func odds() throws {
        let policy = Policy.standard
        for profile in WindowProfile.allCases {
            let isDefault = profile == policy.profile ? " (default)" : ""
            #expect(
                page.contains(
                    try row(
                        "`\(profile.rawValue)`\(isDefault)", profile.behind, profile.ahead,
                        profile.codeCount)))
        }
        #expect(
            page.contains(
                try row(
                    "HOTP, look-ahead \(policy.lookAhead)", 0, policy.lookAhead,
                    policy.lookAhead + 1)))
    }

    @Test("V-01 the documentation states the waits, lifetimes and limits of the verifier")
    func limits() throws {
        let policy = Policy.standard
        let day: Int64 = 86_400_000
        let slowest = Double(guesses(within: .max).last ?? 0) / Double(day)
        // Line breaks within paragraphs do not matter.
        let text = page.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for words in [
            "| fewer than 5 | none |", "| 5 | wait of 30 s;",
            "the wait doubles with each failure, up to 1 h",
            String(
                format: "| 100 | the credential is disabled, after %.1f days at the earliest",
                slowest),
            "\(guesses(within: day).count) guesses a day",
            "confirmation of an enrolment, redemption of an enrolment ticket "
                + "| within \(Policy.enrolmentLifetime / 60_000) minutes |",
            "redemption of a login ticket | within \(Policy.loginLifetime / 1_000) seconds |",
            "(`Idempotency-Key`) | \(Policy.answerLifetime / 3_600_000) hours |",
            "credentials per subject, not counting revoked ones | \(policy.maximumCredentials) |",
            "enrolled secret, without use | \(policy.idleLifetime / day) days |",
            "enrolled secret, regardless of use | \(policy.absoluteLifetime / day) days |",
            "resynchronisation, TOTP | \(Policy.maximumDrift) steps in both directions |",
            "resynchronisation, HOTP | \(Policy.resynchronizationCounters) counters ahead |",
            "the third consecutive secret that the server never issued revokes",
        ] {
            #expect(text.contains(words), "\(words)")
        }
        #expect(policy.freeFailures == 5 && policy.disablingFailures == 100)
        #expect(Policy.secretFailures == 3)
    }

    /// The time of each possible guess, in milliseconds from the first one, until the credential is
    /// disabled or `limit` is reached.
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

    /// The expected row of the table.
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
