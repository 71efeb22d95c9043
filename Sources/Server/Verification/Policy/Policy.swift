/// The limits of a verifier; EnrolledSecrets.md explains the defaults.
public struct Policy: Hashable, Sendable {
    /// The window of time steps.
    public private(set) var profile = WindowProfile.wide
    /// How far the counter of a code may be ahead (RFC 4226, section 7.4): 0 to 50.
    public private(set) var lookAhead = 10
    /// The number of the first consecutive failure after which attempts have to wait (RFC 4226,
    /// section 7.3): 1 to 10.
    public private(set) var firstFailureWithWait = 5
    /// The number of consecutive failures that disable a credential (NIST SP 800-63B-4, section
    /// 3.2.2): at most 100.
    public private(set) var disablingFailures = 100
    /// The maximum time for which an enrolled secret may stay unused, in milliseconds: 90 days.
    ///
    /// After that, the secret is denied but not revoked, because the clock may be wrong.
    public private(set) var idleLifetime = 90 * day
    /// The maximum age of an enrolled secret, in milliseconds: a year.
    ///
    /// After that, the secret is denied but not revoked, as for ``idleLifetime``.
    public private(set) var absoluteLifetime = 365 * day
    /// The maximum number of a subject's credentials that are not revoked.
    public private(set) var maximumCredentials = 32
    /// Whether a secret that this server never issued counts towards ``secretFailures``.
    ///
    /// If so, anyone who knows a credential's id, which is not a secret, can revoke the credential.
    /// By default such a secret is only denied: a guess would have to match 256 random bits.
    public private(set) var countsForeignSecrets = false
    /// The maximum probability that a code of a credential is guessed within a year; `nil`, the
    /// default, sets no bound, and a success forgives all failures.
    public private(set) var guessBound: GuessBound?

    /// The wait after ``firstFailureWithWait`` failures, in milliseconds.
    ///
    /// Each further failure doubles the wait, except for recovery codes.
    package static let firstWait: Int64 = 30_000
    /// The longest wait without a guessing bound, in milliseconds: an hour.
    package static let longestWait: Int64 = 3_600_000
    /// The maximum value of ``lookAhead``.
    public static let maximumLookAhead = 50
    /// The maximum tracked drift of an authenticator's clock in either direction, in time steps,
    /// which is also the search range of a resynchronisation.
    public static let maximumDrift = 20
    /// The minimum time between two changes to the tracked drift by logins, in milliseconds: a day,
    /// in which no working authenticator's clock drifts by a whole step.
    public static let driftInterval: Int64 = 86_400_000
    /// The number of spent HOTP counters whose codes are recognised as replayed.
    ///
    /// A form that is submitted twice, and codes that were displayed but skipped, therefore do not
    /// count as failures.
    public static let recognizedCounters = 3
    /// The number of counters ahead that a resynchronisation searches.
    public static let resynchronizationCounters = 100
    /// The time limit for confirming an enrolment, in milliseconds (NIST SP 800-63B-4, 4.1.2.2).
    public static let enrolmentLifetime: Int64 = 600_000
    /// The time limit for redeeming a login, in milliseconds.
    public static let loginLifetime: Int64 = 60_000
    /// The maximum number of denied device requests per sender and minute; after that, the sender
    /// is told to wait.
    public static let maximumDenials = 60
    /// The maximum number of clients that may redeem an enrolled secret's logins.
    public static let maximumAudience = 16
    /// The maximum difference between the clocks of two nodes, in milliseconds: each clock may
    /// differ from the database's by ten seconds.
    package static let clockSkew: Int64 = 20_000
    /// The number of consecutive failures that revoke an enrolled secret.
    public static let secretFailures = 3
    /// The maximum size of a recorded response in bytes: a row is under 64 KiB, and sealing adds a
    /// few bytes.
    public static let maximumAnswerCount = 60_000
    /// The time for which a response is recorded, in milliseconds: a day.
    public static let answerLifetime: Int64 = 86_400_000
    /// The time for which the row of an ended set of recovery codes is kept, in milliseconds: 400
    /// days.
    public static let endedSetLifetime: Int64 = 400 * 86_400_000
    /// The highest value of ``maximumCredentials``.
    public static let highestMaximumCredentials = 100

    /// The policy with the default limits.
    public static let standard = Policy()

    private static let day: Int64 = 86_400_000

    private init() {}

    /// Takes the limits that differ from the defaults.
    ///
    /// - Throws: ``VerifierError/outOfRange(_:)`` for the first value that is out of range.
    public init(
        profile: WindowProfile = standard.profile, lookAhead: Int = standard.lookAhead,
        firstFailureWithWait: Int = standard.firstFailureWithWait,
        disablingFailures: Int = standard.disablingFailures,
        idleLifetime: Int64 = standard.idleLifetime,
        absoluteLifetime: Int64 = standard.absoluteLifetime,
        maximumCredentials: Int = standard.maximumCredentials,
        countsForeignSecrets: Bool = false, guessBound: GuessBound? = nil
    ) throws(VerifierError) {
        guard (0...Self.maximumLookAhead).contains(lookAhead) else { throw .outOfRange(.lookAhead) }
        guard (1...10).contains(firstFailureWithWait) else {
            throw .outOfRange(.firstFailureWithWait)
        }
        guard (firstFailureWithWait + 1...100).contains(disablingFailures) else {
            throw .outOfRange(.disablingFailures)
        }
        guard idleLifetime > 0, absoluteLifetime > 0, absoluteLifetime < 1 << 50,
            idleLifetime < 1 << 50
        else { throw .outOfRange(.lifetime) }
        guard (1...Self.highestMaximumCredentials).contains(maximumCredentials) else {
            throw .outOfRange(.maximumCredentials)
        }
        self.profile = profile
        self.lookAhead = lookAhead
        self.firstFailureWithWait = firstFailureWithWait
        self.disablingFailures = disablingFailures
        self.idleLifetime = idleLifetime
        self.absoluteLifetime = absoluteLifetime
        self.maximumCredentials = maximumCredentials
        self.countsForeignSecrets = countsForeignSecrets
        self.guessBound = guessBound
        if let guessBound, guessBound.millionths < smallestGuessBound.millionths {
            throw .outOfRange(.guessBound)
        }
    }

    /// The smallest guessing bound that every kind of credential can satisfy.
    ///
    /// A credential is disabled after half of the guesses that a bound permits, and that number
    /// must exceed the failures that cause a wait.
    package var smallestGuessBound: GuessBound {
        let millionths = GuessLimits.bound(
            permitting: 2 * Int64(firstFailureWithWait + 1),
            codes: max(profile.codeCount, lookAhead + 1), digits: 6)
        guard let bound = GuessBound(millionths: millionths) else {
            preconditionFailure("the ranges of a policy permit a bound")
        }
        return bound
    }
}

/// The maximum probability that a code of a credential is guessed within a year.
public struct GuessBound: Hashable, Sendable {
    /// The probability in millionths: 1 to 1,000,000.
    public let millionths: Int64

    /// Takes the probability in millionths; `nil` if it is out of range.
    public init?(millionths: Int64) {
        guard (1...1_000_000).contains(millionths) else { return nil }
        self.millionths = millionths
    }

    /// Parses a percentage with at most four decimal places, such as `0.5%`; `nil` if it is
    /// malformed or out of range.
    public init?(percentage: String) {
        guard percentage.hasSuffix("%") else { return nil }
        let parts = percentage.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...3).contains(parts[0].utf8.count),
            parts.count == 1 || (1...4).contains(parts[1].utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        let places = parts.count == 1 ? "" : parts[1]
        let digits = parts[0] + places + String(repeating: "0", count: 4 - places.utf8.count)
        guard let millionths = Int64(digits) else { return nil }
        self.init(millionths: millionths)
    }

    /// The bound as a percentage with four decimal places.
    package var percentage: String {
        let places = String(10_000 + millionths % 10_000).dropFirst()
        return "\(millionths / 10_000).\(places)%"
    }
}

extension Policy {
    /// A value that is out of range.
    public enum Value: Hashable, Sendable {
        /// The look-ahead must be 0 to 50.
        case lookAhead
        /// The first failure with a wait must be 1 to 10.
        case firstFailureWithWait
        /// The number of disabling failures must exceed ``Policy/firstFailureWithWait`` and be at
        /// most 100.
        case disablingFailures
        /// A lifetime must be more than 0.
        case lifetime
        /// The number of credentials must be 1 to 100.
        case maximumCredentials
        /// The bound must permit twice as many guesses, for every kind of credential, as cause a
        /// wait.
        case guessBound
    }
}

/// The number of time steps around the expected one that are accepted (RFC 6238, sections 5.2 and
/// 6).
public enum WindowProfile: String, CaseIterable, Hashable, Sendable {
    /// Accepts only the expected step.
    case strict
    /// Accepts the expected step and the step before it, the maximum that RFC 6238 recommends for
    /// the transmission delay.
    case rfc
    /// Accepts the expected step, the step before it and the step after it.
    case wide

    /// The number of steps before the expected step.
    public var behind: Int { self == .strict ? 0 : 1 }
    /// The number of steps after the expected step.
    public var ahead: Int { self == .wide ? 1 : 0 }
    /// The number of codes that are valid at any moment.
    public var codeCount: Int { behind + 1 + ahead }
}
