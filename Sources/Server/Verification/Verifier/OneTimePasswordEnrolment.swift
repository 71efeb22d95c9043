internal import OneTimePassword
public import WatchwordCryptography

/// A request for a new one-time-password credential, checked against the standards.
public struct OneTimePasswordEnrolment: Sendable {
    /// The moving factor (RFC 4226; RFC 6238).
    public enum Factor: Hashable, Sendable {
        /// The time, in steps of 1 to 120 seconds (NIST SP 800-63B-4, section 3.1.4.1).
        case time(period: Int)
        /// A counter, starting at this value.
        case counter(UInt64)
    }

    /// The service that asks for codes, as the authenticator displays it.
    public let issuer: String
    /// The user's account, as the authenticator displays it.
    public let account: String
    /// The moving factor of the codes.
    public let factor: Factor
    /// The hash function of the HMAC.
    public let algorithm: HashAlgorithm
    /// The number of digits: 6, 7 or 8 (RFC 4226, section 5.3).
    public let digits: Int
    /// An existing key; `nil` to generate one.
    public let key: SecretBytes?
    /// The credential's name in lists of credentials.
    public let name: String

    /// The minimum number of bytes of a key: 128 bits (RFC 4226, section 4, R6).
    public static let minimumKeyCount = 16
    /// The maximum number of bytes of an imported key.
    public static let maximumKeyCount = 256
    /// The maximum length of each text in bytes.
    public static let maximumTextCount = 256

    /// Checks a request against the standards.
    ///
    /// - Throws: ``VerifierError/enrolment(_:)`` for the first part that does not conform.
    public init(
        issuer: String, account: String, factor: Factor = .time(period: 30),
        algorithm: HashAlgorithm = .sha1, digits: Int = 6, key: SecretBytes? = nil,
        name: String = ""
    ) throws(VerifierError) {
        if let key { try Self.check(key, minimum: Self.minimumKeyCount) }
        try Self.check(digits: digits, factor)
        try Self.check(name: name)
        for (text, part) in [
            (issuer, OneTimePasswordEnrolment.Text.issuer), (account, .account),
        ] {
            let isTooLong = text.utf8.count > Self.maximumTextCount
            guard !isTooLong, !text.hasSpaceAround else { throw .enrolment(.text(part)) }
        }
        guard !issuer.isEmpty || !account.isEmpty else { throw .enrolment(.text(.account)) }
        self.issuer = issuer
        self.account = account
        self.factor = factor
        self.algorithm = algorithm
        self.digits = digits
        self.key = key
        self.name = name
    }

    static func check(
        _ key: SecretBytes, minimum: Int
    ) throws(VerifierError) {
        guard key.count >= minimum else { throw .enrolment(.keyTooShort) }
        guard key.count <= maximumKeyCount else { throw .enrolment(.keyTooLong) }
    }

    static func check(
        digits: Int, _ factor: Factor
    ) throws(VerifierError) {
        guard (6...8).contains(digits) else { throw .enrolment(.digits) }
        switch factor {
        case .time(let period): guard (1...120).contains(period) else { throw .enrolment(.period) }
        case .counter(let counter): guard counter < .max else { throw .enrolment(.counter) }
        }
    }

    static func check(name: String) throws(VerifierError) {
        guard name.utf8.count <= maximumTextCount else { throw .enrolment(.text(.name)) }
    }
}

extension OneTimePasswordEnrolment {
    /// A text of an enrolment.
    public enum Text: Hashable, Sendable {
        case issuer, account, name
    }

    /// The part of an enrolment that the standards do not allow.
    public enum Fault: Hashable, Sendable {
        /// The key has fewer than 128 bits (RFC 4226, section 4, R6), or fewer than an import
        /// permits.
        case keyTooShort
        /// The key has more than 256 bytes.
        case keyTooLong
        /// The number of digits is not 6 to 8.
        case digits
        /// The time step is not 1 to 120 seconds.
        case period
        /// The counter starts at 2^64 - 1, which is never accepted (NIST SP 800-63B-4, section
        /// 3.1.4.1).
        case counter
        /// The text has more than 256 bytes; or the issuer or account starts or ends with a space
        /// of any kind, which a key URI does not preserve; or both are empty, which would leave the
        /// key URI without a label.
        case text(Text)
    }
}

/// An existing key from another system, with that system's data on the use of the key.
///
/// The import is checked like an enrolment (``OneTimePasswordEnrolment``), but the key may be
/// shorter if the administrator allows it: google-authenticator's PAM module generated keys of 80
/// bits for years.
public struct OneTimePasswordImport: Sendable {
    /// The moving factor, and the last used value of this factor.
    public enum Factor: Hashable, Sendable {
        /// The time, in steps of 1 to 120 seconds.
        ///
        /// Codes of `lastUsedStep` and of all earlier steps are spent.
        case time(period: Int, lastUsedStep: UInt64?)
        /// The counter of the next code (RFC 4226).
        case counter(UInt64)
    }

    /// The imported key, a secret.
    public let key: SecretBytes
    /// The moving factor, with its last use.
    public let factor: Factor
    /// The hash function of the HMAC.
    public let algorithm: HashAlgorithm
    /// The number of digits: 6, 7 or 8.
    public let digits: Int
    /// The credential's name in lists of credentials.
    public let name: String
    /// Whether the credential is active at once.
    ///
    /// Otherwise a first code must confirm the credential, as after an enrolment.
    public let isConfirmed: Bool

    /// Whether the key has fewer than 128 bits.
    public var hasShortKey: Bool { key.count < OneTimePasswordEnrolment.minimumKeyCount }

    /// The minimum number of bytes of a key if short keys are allowed: 80 bits.
    public static let minimumShortKeyCount = 10

    /// Checks a request against the standards, except perhaps for the length of the key.
    ///
    /// - Throws: ``VerifierError/enrolment(_:)`` for the first part that does not conform.
    public init(
        key: SecretBytes, allowingShortKey: Bool = false, factor: Factor,
        algorithm: HashAlgorithm = .sha1, digits: Int = 6, name: String = "",
        isConfirmed: Bool = false
    ) throws(VerifierError) {
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
