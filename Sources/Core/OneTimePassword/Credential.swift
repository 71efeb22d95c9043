public import WatchwordCryptography

/// Everything that determines one account's codes: the key, its parameters and its names.
public struct Credential: Sendable {
    /// A parameter of a key URI that is not interpreted here but kept for other programs.
    ///
    /// Names and values are kept as text: they contain no key, because a key is always called
    /// `secret`.
    public struct Parameter: Hashable, Sendable {
        /// The name as written.
        public let name: String
        /// The value after percent-decoding.
        public let value: String

        /// Combines a name as written and its decoded value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The provider of the account; may be empty.
    public let issuer: String
    /// The account's name; may be empty.
    public let account: String
    /// The shared secret, never empty.
    public let key: SecretBytes
    /// The hash function of the HMAC.
    public let algorithm: HashAlgorithm
    /// How codes are written.
    public let style: CodeStyle
    /// The moving factor: a time step or a counter.
    public private(set) var movingFactor: MovingFactor
    /// The key URI's other parameters, in order.
    public private(set) var otherParameters: [Parameter]

    /// Checks and combines the properties of a credential.
    ///
    /// - Throws: ``OneTimePasswordError/emptyKey``, ``OneTimePasswordError/spaceAround(_:)``,
    ///   ``OneTimePasswordError/parameter(position:)`` or ``OneTimePasswordError/tooLong``.
    public init(
        issuer: String, account: String, key: SecretBytes, algorithm: HashAlgorithm = .sha1,
        style: CodeStyle = .decimal(.six), movingFactor: MovingFactor = .time(.standard),
        otherParameters: [Parameter] = []
    ) throws(OneTimePasswordError) {
        guard key.count > 0 else { throw .emptyKey }
        guard !issuer.hasSpaceAround else { throw .spaceAround(.issuer) }
        guard !account.hasSpaceAround else { throw .spaceAround(.account) }
        var names: Set<String> = []
        for (position, parameter) in otherParameters.enumerated() {
            let name = parameter.name.asciiLowercased
            let isOwn = KeyURIParameter(name)?.belongs(isHOTP: movingFactor.isCounter) ?? false
            guard !isOwn, names.insert(name).inserted else { throw .parameter(position: position) }
        }
        guard
            KeyURI.longestCount(issuer, account, key, otherParameters) <= KeyURI.maximumCount
        else { throw .tooLong }
        self.issuer = issuer
        self.account = account
        self.key = key
        self.algorithm = algorithm
        self.style = style
        self.movingFactor = movingFactor
        self.otherParameters = otherParameters
    }
}

extension Credential {
    /// The credential with a different counter value; its moving factor must be a counter.
    package func moved(to counter: UInt64) -> Credential {
        precondition(movingFactor.isCounter, "the credential is HOTP")
        var moved = self
        moved.movingFactor = .counter(counter)
        return moved
    }

    /// The credential without the parameters that are kept for other programs.
    package var withoutOtherParameters: Credential {
        var plain = self
        plain.otherParameters = []
        return plain
    }
}

extension Credential: Equatable {
    /// Compares all properties; the keys are compared in constant time.
    public static func == (left: Credential, right: Credential) -> Bool {
        let sameKey = left.key == right.key
        return sameKey && left.issuer == right.issuer && left.account == right.account
            && left.algorithm == right.algorithm && left.style == right.style
            && left.movingFactor == right.movingFactor
            && left.otherParameters == right.otherParameters
    }
}

/// A property that the standards do not allow, although services use it.
public enum CredentialWarning: Hashable, Sendable {
    /// The key is shorter than the 128 bits of RFC 4226, section 4 (R6).
    case shortKey(bits: Int)
    /// Codes do not have six to eight digits (RFC 4226, section 5.3).
    case digits(Int)
    /// A code is valid for more than two minutes (NIST SP 800-63B-4, section 3.1.4.1).
    case longPeriod(seconds: Int64)
}

extension Credential {
    /// The properties that the standards do not allow; the credential can still be used.
    public var warnings: [CredentialWarning] {
        var warnings: [CredentialWarning] = []
        if key.count < 16 { warnings.append(.shortKey(bits: key.count * 8)) }
        if case .decimal(let length) = style, !length.isStandard {
            warnings.append(.digits(length.digits))
        }
        if case .time(let step) = movingFactor, step.period > 120 {
            warnings.append(.longPeriod(seconds: step.period))
        }
        return warnings
    }
}

extension Credential {
    /// A generator for many codes of this credential.
    public func generator() -> CodeGenerator {
        CodeGenerator(key: key, algorithm: algorithm, style: style)
    }

    /// The code at a Unix time.
    ///
    /// - Throws: ``OneTimePasswordError/otherMovingFactor`` for HOTP,
    ///   ``OneTimePasswordError/beforeStart`` for a time before T0.
    public func code(atUnixTime unixTime: Int64) throws(OneTimePasswordError) -> Code {
        code(at: try step(atUnixTime: unixTime))
    }

    /// The time step of a Unix time, for ``CodeGenerator``.
    ///
    /// - Throws: ``OneTimePasswordError/otherMovingFactor`` for HOTP,
    ///   ``OneTimePasswordError/beforeStart`` for a time before T0.
    public func step(atUnixTime unixTime: Int64) throws(OneTimePasswordError) -> UInt64 {
        guard case .time(let timeStep) = movingFactor else { throw .otherMovingFactor }
        guard let step = timeStep.step(at: unixTime) else { throw .beforeStart }
        return step
    }

    /// The code for a counter value.
    ///
    /// - Throws: ``OneTimePasswordError/otherMovingFactor`` for TOTP.
    public func code(counter: UInt64) throws(OneTimePasswordError) -> Code {
        guard case .counter = movingFactor else { throw .otherMovingFactor }
        return code(at: counter)
    }

    private func code(at factor: UInt64) -> Code {
        CodeGenerator.code(at: factor, key: key, algorithm: algorithm, style: style)
    }
}

/// A code that Watchword does not compute, as its app stored it.
public struct UncomputedCode: Sendable {
    /// The kind of code.
    public enum Kind: UInt8, CaseIterable, Hashable, Sendable {
        /// Yandex Key: eight letters, from a secret and a PIN.
        case yandex
        /// Mobile-OTP: six hexadecimal digits, from a secret and a PIN.
        case motp
    }

    /// The kind of code.
    public let kind: Kind
    /// The issuer; may be empty.
    public let issuer: String
    /// The account; may be empty.
    public let account: String
    /// The secret; for Mobile-OTP, the text of its hexadecimal digits as the app wrote them.
    public let secret: SecretBytes
    /// The PIN, if the app stored it.
    public let pin: SecretBytes?

    /// Combines the parts as the app stored them.
    public init(
        kind: Kind, issuer: String, account: String, secret: SecretBytes, pin: SecretBytes?
    ) {
        self.kind = kind
        self.issuer = issuer
        self.account = account
        self.secret = secret
        self.pin = pin
    }
}
