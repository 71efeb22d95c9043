public import Cryptography

/// Everything that makes one account's codes: a key, how it is used, and whose it is.
public struct Credential: Sendable {
    /// A parameter of a key URI that means nothing here and is kept for others.
    ///
    /// Names and values are kept as text: a key is only ever called `secret`.
    public struct Parameter: Hashable, Sendable {
        /// The name as it was written.
        public let name: String
        /// The value, decoded.
        public let value: String

        /// Keeps `value` under `name`.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Who hands out the account; may be empty.
    public let issuer: String
    /// Whose account it is; may be empty.
    public let account: String
    /// The shared secret, never empty.
    public let key: SecretBytes
    /// The hash function under the HMAC.
    public let algorithm: HashAlgorithm
    /// How codes look.
    public let style: CodeStyle
    /// What changes from code to code.
    public let movingFactor: MovingFactor
    /// What the key URI said beyond what is known here, in its order.
    public let otherParameters: [Parameter]

    /// Puts a credential together.
    ///
    /// - Throws: ``CredentialError``.
    public init(
        issuer: String, account: String, key: SecretBytes, algorithm: HashAlgorithm = .sha1,
        style: CodeStyle = .decimal(.six), movingFactor: MovingFactor = .time(.standard),
        otherParameters: [Parameter] = []
    ) throws(CredentialError) {
        guard key.count > 0 else { throw .emptyKey }
        guard !issuer.hasSpaceAround else { throw .spaceAround(.issuer) }
        guard !account.hasSpaceAround else { throw .spaceAround(.account) }
        var names: Set<String> = []
        for (position, parameter) in otherParameters.enumerated() {
            let name = parameter.name.asciiLowercased
            let isOwn = KeyURIParameter(name)?.belongs(isCounted: movingFactor.isCounter) ?? false
            guard !isOwn, names.insert(name).inserted else { throw .parameter(position: position) }
        }
        guard
            KeyURI.longestCount(issuer, account, key, otherParameters) <= KeyURI.maximalCount
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

/// Why there is no such credential.
public enum CredentialError: Error, Hashable, Sendable {
    /// One of a credential's two names.
    public enum Name: Hashable, Sendable {
        case issuer, account
    }

    /// A key has at least one byte.
    case emptyKey
    /// A name begins or ends with a space, which a key URI does not carry over.
    case spaceAround(Name)
    /// Names, key and parameters together would not fit into a key URI that can be read again.
    case tooLong
    /// A parameter is given twice, or one of the credential's own is given as another.
    case parameter(position: Int)
}
