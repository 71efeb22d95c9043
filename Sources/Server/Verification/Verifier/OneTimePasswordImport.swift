public import WatchwordCryptography

/// An existing key from another system, with what that system knows about its use.
///
/// It is checked like an enrolment (``OneTimePasswordEnrolment``), but its key may be shorter if
/// the administrator allows it: google-authenticator's PAM module generated keys of 80 bits for
/// years.
public struct OneTimePasswordImport: Sendable {
    /// The moving factor, and the last one that was used.
    public enum Factor: Hashable, Sendable {
        /// The time, in steps of 1 to 120 seconds.
        ///
        /// Codes of `lastUsedStep` and of all earlier steps are spent.
        case time(period: Int, lastUsedStep: UInt64?)
        /// The counter of the next code (RFC 4226).
        case counter(UInt64)
    }

    /// The key.
    public let key: SecretBytes
    /// The moving factor.
    public let factor: Factor
    /// The hash function.
    public let algorithm: HashAlgorithm
    /// 6, 7 or 8.
    public let digits: Int
    /// The credential's name in lists.
    public let name: String
    /// Whether the credential is active at once.
    ///
    /// Otherwise a first code has to confirm it, as after an enrolment.
    public let isConfirmed: Bool

    /// Whether the key has fewer than 128 bits.
    public var hasShortKey: Bool { key.count < OneTimePasswordEnrolment.minimumKeyCount }

    /// The minimum number of bytes of a key if short keys are allowed: 80 bits.
    public static let minimumShortKeyCount = 10

    /// Creates a request that conforms to the standards, except perhaps in the length of its key.
    ///
    /// - Throws: ``OneTimePasswordEnrolmentError`` for the first part that does not.
    public init(
        key: SecretBytes, allowingShortKey: Bool = false, factor: Factor,
        algorithm: HashAlgorithm = .sha1, digits: Int = 6, name: String = "",
        isConfirmed: Bool = false
    ) throws(OneTimePasswordEnrolmentError) {
        try OneTimePasswordEnrolment.check(
            key,
            minimum: allowingShortKey
                ? Self.minimumShortKeyCount : OneTimePasswordEnrolment.minimumKeyCount)
        try OneTimePasswordEnrolment.check(digits: digits, factor.enrolled)
        try OneTimePasswordEnrolment.check(name: name)
        self.key = key
        self.factor = factor
        self.algorithm = algorithm
        self.digits = digits
        self.name = name
        self.isConfirmed = isConfirmed
    }
}

extension OneTimePasswordImport.Factor {
    /// The moving factor without the last use.
    var enrolled: OneTimePasswordEnrolment.Factor {
        switch self {
        case .time(let period, _): .time(period: period)
        case .counter(let counter): .counter(counter)
        }
    }
}
