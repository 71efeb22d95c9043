/// What a verifier allows; the defaults are the design's.
public struct Policy: Hashable, Sendable {
    /// The window of time steps.
    public let profile: WindowProfile
    /// How far the counter of a code may be ahead (RFC 4226, section 7.4): 0 to 50.
    public let lookAhead: Int
    /// Consecutive failures after which attempts have to wait (RFC 4226, section 7.3): 1 to 10.
    public let freeFailures: Int
    /// Consecutive failures that disable (NIST SP 800-63B-4, section 3.2.2): at most 100.
    public let disablingFailures: Int
    /// Milliseconds of an enrolled secret's life without use: 90 days.
    ///
    /// Once they are over it is denied, and not ended: only the clock says so.
    public let idleLifetime: Int64
    /// Milliseconds of an enrolled secret's life: a year, then as ``idleLifetime``.
    public let absoluteLifetime: Int64
    /// Credentials of a subject that are not revoked: more are not enrolled.
    public let maximalCredentials: Int
    /// Whether a secret that this server never made counts towards ``secretFailures``.
    ///
    /// If it does, anybody who knows a credential's id, which is no secret, can end the credential. By
    /// default it is denied and nothing else: a guess would have to hit 256 random bits.
    public let countsForeignSecrets: Bool

    /// The most steps that a counter may be ahead.
    public static let maximalLookAhead = 50
    /// Time steps to either side of our clock that an authenticator's clock may be tracked, and in which
    /// a resynchronisation looks.
    public static let maximalDrift = 20
    /// Milliseconds between two steps by which logins move the tracked drift: a day, in which no
    /// authenticator's clock that works is off by as much as a step.
    public static let driftInterval: Int64 = 86_400_000
    /// Counters ahead in which a resynchronisation looks.
    public static let resynchronizationCounters = 100
    /// Milliseconds in which an enrolment has to be confirmed (NIST SP 800-63B-4, 4.1.2.2).
    public static let enrolmentLifetime: Int64 = 600_000
    /// Milliseconds in which a login has to be redeemed.
    public static let loginLifetime: Int64 = 60_000
    /// Denied requests of devices from one address in a minute; more are told to wait.
    public static let maximalDenials = 60
    /// The most clients that may redeem an enrolled secret's logins.
    public static let maximalAudience = 16
    /// Failures in a row that end an enrolled secret.
    public static let secretFailures = 3
    /// The most bytes of an answer that is kept: a row is under 64 KiB, and sealing adds a few.
    public static let maximalAnswerCount = 60_000
    /// Milliseconds for which an answer is given again: a day.
    public static let answerLifetime: Int64 = 86_400_000

    /// The design's defaults.
    public static let standard = Policy(
        profile: .wide, lookAhead: 10, freeFailures: 5, disablingFailures: 100,
        idleLifetime: 90 * day, absoluteLifetime: 365 * day, maximalCredentials: 32,
        countsForeignSecrets: false, isChecked: ())

    private static let day: Int64 = 86_400_000

    /// Takes what is given in place of the defaults.
    ///
    /// - Throws: ``PolicyError``, which names the first that is out of its range.
    public init(
        profile: WindowProfile = .wide, lookAhead: Int = 10, freeFailures: Int = 5,
        disablingFailures: Int = 100, idleLifetime: Int64 = 90 * 86_400_000,
        absoluteLifetime: Int64 = 365 * 86_400_000, maximalCredentials: Int = 32,
        countsForeignSecrets: Bool = false
    ) throws(PolicyError) {
        guard (0...Self.maximalLookAhead).contains(lookAhead) else { throw .lookAhead }
        guard (1...10).contains(freeFailures) else { throw .freeFailures }
        guard (freeFailures + 1...100).contains(disablingFailures) else {
            throw .disablingFailures
        }
        guard idleLifetime > 0, absoluteLifetime > 0, absoluteLifetime < 1 << 50,
            idleLifetime < 1 << 50
        else { throw .lifetime }
        guard (1...100).contains(maximalCredentials) else { throw .maximalCredentials }
        self.init(
            profile: profile, lookAhead: lookAhead, freeFailures: freeFailures,
            disablingFailures: disablingFailures, idleLifetime: idleLifetime,
            absoluteLifetime: absoluteLifetime, maximalCredentials: maximalCredentials,
            countsForeignSecrets: countsForeignSecrets, isChecked: ())
    }

    private init(
        profile: WindowProfile, lookAhead: Int, freeFailures: Int, disablingFailures: Int,
        idleLifetime: Int64, absoluteLifetime: Int64, maximalCredentials: Int,
        countsForeignSecrets: Bool, isChecked: Void
    ) {
        self.profile = profile
        self.lookAhead = lookAhead
        self.freeFailures = freeFailures
        self.disablingFailures = disablingFailures
        self.idleLifetime = idleLifetime
        self.absoluteLifetime = absoluteLifetime
        self.maximalCredentials = maximalCredentials
        self.countsForeignSecrets = countsForeignSecrets
    }
}

/// Which part of a policy is out of its range.
public enum PolicyError: Error, Hashable, Sendable {
    /// 0 to 50.
    case lookAhead
    /// 1 to 10.
    case freeFailures
    /// More than the free ones, at most 100.
    case disablingFailures
    /// More than nothing.
    case lifetime
    /// 1 to 100.
    case maximalCredentials
}
