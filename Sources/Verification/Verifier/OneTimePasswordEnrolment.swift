public import Cryptography

/// What is asked for with a new one-time password: checked against the standards or never made.
public struct OneTimePasswordEnrolment: Sendable {
    /// What moves the codes on.
    public enum Factor: Hashable, Sendable {
        /// Time, in steps of so many seconds: 1 to 120 (NIST SP 800-63B-4, section 3.1.4.1).
        case time(period: Int)
        /// A counter, from this one on.
        case counter(UInt64)
    }

    /// Who asks for codes, as the authenticator shows it.
    public let issuer: String
    /// Whose account it is, as the authenticator shows it.
    public let account: String
    /// What moves the codes on.
    public let factor: Factor
    /// The hash function.
    public let algorithm: HashAlgorithm
    /// 6, 7 or 8 (RFC 4226, section 5.3).
    public let digits: Int
    /// A key that exists already; nothing to have one made.
    public let key: SecretBytes?
    /// What people call the credential in a list.
    public let name: String

    /// The most bytes of an imported key.
    public static let maximalKeyCount = 256
    /// The most bytes of each of the texts.
    public static let maximalTextCount = 256

    /// Takes what the standards allow.
    ///
    /// - Throws: ``OneTimePasswordEnrolmentError``, which names the first part that they don't.
    public init(
        issuer: String, account: String, factor: Factor = .time(period: 30),
        algorithm: HashAlgorithm = .sha1, digits: Int = 6, key: SecretBytes? = nil,
        name: String = ""
    ) throws(OneTimePasswordEnrolmentError) {
        if let key {
            guard key.count >= 16 else { throw .keyTooShort }
            guard key.count <= Self.maximalKeyCount else { throw .keyTooLong }
        }
        guard (6...8).contains(digits) else { throw .digits }
        switch factor {
        case .time(let period): guard (1...120).contains(period) else { throw .period }
        case .counter(let counter): guard counter < .max else { throw .counter }
        }
        for (text, part) in [
            (issuer, OneTimePasswordEnrolmentError.Text.issuer), (account, .account), (name, .name),
        ] {
            let isTooLong = text.utf8.count > Self.maximalTextCount
            let isPadded = part != .name && (text.utf8.first == 0x20 || text.utf8.last == 0x20)
            guard !isTooLong, !isPadded else { throw .text(part) }
        }
        guard !issuer.isEmpty || !account.isEmpty else { throw .text(.account) }
        self.issuer = issuer
        self.account = account
        self.factor = factor
        self.algorithm = algorithm
        self.digits = digits
        self.key = key
        self.name = name
    }
}

/// Which part of an enrolment the standards do not allow.
public enum OneTimePasswordEnrolmentError: Error, Hashable, Sendable {
    /// One of the texts.
    public enum Text: Hashable, Sendable {
        case issuer, account, name
    }

    /// A key has at least 128 bits (RFC 4226, section 4, R6).
    case keyTooShort
    /// A key has at most 256 bytes here.
    case keyTooLong
    /// 6 to 8 digits.
    case digits
    /// 1 to 120 seconds.
    case period
    /// A counter ends before 2^64 - 1, which disables (NIST SP 800-63B-4, section 3.1.4.1).
    case counter
    /// At most 256 bytes; issuer and account neither begin nor end with a space, which a key URI does not
    /// carry over, and one of them is something: a key URI without a label is none.
    case text(Text)
}
