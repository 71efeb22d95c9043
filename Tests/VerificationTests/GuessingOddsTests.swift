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
                path: "Sources/Server/Verification/EnrolledSecrets.md"), encoding: .utf8)
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
            "| first \(policy.firstFailureWithWait) guesses |",
            "| fewer than \(policy.firstFailureWithWait) | none |",
            "| \(policy.firstFailureWithWait) | wait of \(Policy.firstWait / 1_000) s;",
            "| \(policy.firstFailureWithWait + 1) to \(policy.disablingFailures - 1) "
                + "| the wait doubles with each failure, up to \(Policy.longestWait / 3_600_000) h |",
            "A bound of less than "
                + policy.smallestGuessBound.percentage.replacing("%", with: " %") + " is refused",
            String(
                format: "| 100 | the credential is disabled, after %.1f days at the earliest",
                slowest),
            String(format: "| send 100 wrong codes, over %.1f days |", slowest),
            String(format: "100 guesses still take %.1f days less ", slowest)
                + "\(policy.disablingFailures - policy.firstFailureWithWait) × 20 s",
            "at least \(Policy.firstWait / 1_000 - 20) s remain of the first one",
            "a wrong one every \(Policy.firstWait / 1_000) s |",
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
        // The text contains this number in words.
        #expect(policy.firstFailureWithWait == 5)
        #expect(policy.disablingFailures == 100 && Policy.firstWait > Policy.clockSkew)
        #expect(Policy.secretFailures == 3)
    }

    /// The rows of the tables: names, and the number of valid codes.
    private var profiles: [(name: String, codes: Int)] {
        WindowProfile.allCases.map { ("`\($0.rawValue)`", $0.codeCount) }
            + [("HOTP, look-ahead 10", Policy.standard.lookAhead + 1)]
    }

    @Test("V-01 the documentation states the probability of guessing within a year")
    func year() throws {
        let logins: [Int64] = [1, 2, 10, 24]
        let daily = logins.map { guesses(within: 86_400_000 / $0).count * Int($0) }
        let known = logins.map(guessesBesideKnownDevice(dailyLogins:))
        #expect(Set(known).count == 1 && known[0] / 365 == 24)
        for (number, times) in zip(daily, ["a day if", "at 2", "at 10", "at 24"]) {
            #expect(page.contains("\(number) ") && page.contains(times))
        }
        for (name, codes) in profiles {
            let probabilities = (daily.map { 365 * $0 } + [known[0]]).map { count in
                let missed = pow(1 - Double(codes) / 1_000_000, Double(count))
                return String(format: "%.1f %%", 100 * (1 - missed))
            }
            let row = "| \(name) | " + probabilities.joined(separator: " | ") + " |"
            #expect(page.contains(row), "\(row)")
        }
    }

    @Test("V-01 the documentation states what each guessing bound permits")
    func bounds() throws {
        for percentage in ["1%", "0.1%"] {
            let bound = try #require(GuessBound(percentage: percentage))
            let policy = try Policy(guessBound: bound)
            for (name, codes) in profiles {
                let limits = GuessLimits(policy, codes: codes, digits: 6)
                let count = GuessLimits.guesses(bound, codes: codes, digits: 6)
                let row =
                    "| \(name) | \(percentage.dropLast()) % | "
                    + count.formatted(.number.locale(Locale(identifier: "en_US")))
                    + " | \(limits.disablingFailures) | "
                    + String(format: "%.1f h |", Double(limits.interval) / 3_600_000)
                #expect(page.contains(row), "\(row)")
            }
        }
    }

    /// The guesses within a year of a stranger who never pauses, while the owner signs in from a
    /// known device.
    private func guessesBesideKnownDevice(dailyLogins logins: Int64) -> Int {
        let limits = GuessLimits(.standard)
        var throttle = Throttle()
        var count = 0
        for login in 1...(365 * logins) {
            let end = UnixTime(milliseconds: login * (86_400_000 / logins))
            var now = UnixTime(milliseconds: (login - 1) * (86_400_000 / logins))
            while true {
                now = now.adding(milliseconds: throttle.remainingWait(at: now) ?? 0)
                guard now < end else { break }
                count += 1
                guard throttle.fail(at: now, limits: limits) != .disabled else { return count }
            }
            throttle.succeed(at: end, limits: limits, byKnownDevice: true)
        }
        return count
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
            if throttle.fail(at: now, limits: GuessLimits(.standard)) == .disabled { return made }
        }
    }

    /// The expected row of the table.
    private func row(_ name: String, _ behind: Int, _ ahead: Int, _ right: Int) throws -> String {
        func oneIn(_ count: Int) -> String {
            let number = (1_000_000 / Double(count * right)).rounded()
            return "1 in " + Int(number).formatted(.number.locale(Locale(identifier: "en_US")))
        }
        let counts = [
            Policy.failuresUntilWait, guesses(within: .max).count,
            guesses(within: 86_400_000).count,
        ]
        return "| \(name) | \(behind), \(ahead) | \(right) | "
            + counts.map(oneIn).joined(separator: " | ") + " |"
    }
}
