internal import WatchwordCoding
public import WatchwordCryptography
package import WatchwordSystem

/// A request to a device, for one run of the helper process.
public enum TokenRequest: Sendable {
    /// Seal a secret, and verify that it can be unsealed.
    case seal(SecretBytes, pin: SecretBytes?, isBoundToPCR7: Bool, in: TPMAddress)
    /// Unseal a secret that this TPM has sealed.
    case unseal(TPMObject, in: TPMAddress)
    /// Make a key pair in a TPM, which can be used with this authorization value, and the PIN if
    /// there is one.
    case makeKey(authorization: SecretBytes, pin: SecretBytes?, in: TPMAddress)
    /// Sign a message with a key in a TPM.
    case sign([UInt8], with: TPMKey, authorization: SecretBytes, in: TPMAddress)
    /// Let a TPM attest a key that it has made, for a message.
    case attest(TPMKey, for: [UInt8], authorization: SecretBytes, in: TPMAddress)
    /// Reveal the secret that a server protected for an attested TPM.
    case activate(KeyActivation, in: TPMAddress)
    /// Make a credential on the device at this path (by default, the only device), and get its
    /// secret.
    case makeCredential(device: String?, salt: [UInt8], requiresPIN: Bool)
    /// Get the secret of a credential.
    case secret(of: FIDOCredential, device: String?)

    /// The number of bytes of a sealed secret.
    package static let secretCount = 32
    /// The maximum size of a PIN in bytes: the limit of a TPM with SHA-256, which is lower than the
    /// limit of an authenticator (63).
    package static let longestPIN = 32
    /// The maximum size of an authenticator's PIN in bytes.
    package static let longestAuthenticatorPIN = 63
    static let longestPath = 255
    /// The maximum size of a request's frame in bytes.
    package static let largestFrame = 4096
}

extension TokenRequest: Transferable {
    private enum Kind: UInt8, Transferable {
        case seal, unseal, makeKey, sign, attest, activate, makeCredential, secret
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .seal(let secret, let pin, let isBoundToPCR7, let address):
            output.append(Kind.seal, secret, OptionalPIN(pin), isBoundToPCR7, address)
        case .unseal(let object, let address): output.append(Kind.unseal, object, address)
        case .makeKey(let authorization, let pin, let address):
            output.append(Kind.makeKey, authorization, OptionalPIN(pin), address)
        case .sign(let message, let key, let authorization, let address):
            output.append(Kind.sign, message, key, authorization, address)
        case .attest(let key, let message, let authorization, let address):
            output.append(Kind.attest, key, message, authorization, address)
        case .activate(let activation, let address):
            output.append(Kind.activate, activation, address)
        case .makeCredential(let device, let salt, let requiresPIN):
            output.append(Kind.makeCredential, device ?? "", salt, requiresPIN)
        case .secret(let credential, let device):
            output.append(Kind.secret, credential, device ?? "")
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .seal:
            self = .seal(
                try fields.secret(bytes, limit: TokenRequest.secretCount),
                pin: try fields.pin(bytes, limit: TokenRequest.longestPIN),
                isBoundToPCR7: try fields.value(bytes), in: try fields.value(bytes))
        case .unseal: self = try fields.make(Self.unseal, from: bytes)
        case .makeKey:
            self = .makeKey(
                authorization: try fields.authorization(bytes),
                pin: try fields.pin(bytes, limit: TokenRequest.longestPIN),
                in: try fields.value(bytes))
        case .sign:
            self = .sign(
                try fields.message(bytes), with: try fields.value(bytes),
                authorization: try fields.authorization(bytes), in: try fields.value(bytes))
        case .attest:
            self = .attest(
                try fields.value(bytes), for: try fields.message(bytes),
                authorization: try fields.authorization(bytes), in: try fields.value(bytes))
        case .activate: self = try fields.make(Self.activate, from: bytes)
        case .makeCredential:
            self = .makeCredential(
                device: try fields.path(bytes),
                salt: try fields.data(bytes, limit: FIDOCredential.saltCount),
                requiresPIN: try fields.value(bytes))
        case .secret:
            self = .secret(of: try fields.value(bytes), device: try fields.path(bytes))
        }
    }
}

extension FieldReader {
    fileprivate mutating func authorization(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> SecretBytes {
        try secret(bytes, limit: TPMKey.authorizationCount)
    }

    fileprivate mutating func message(_ bytes: Span<UInt8>) throws(Unreadable) -> [UInt8] {
        try data(bytes, limit: TPMKey.longestMessage)
    }

    fileprivate mutating func path(_ bytes: Span<UInt8>) throws(Unreadable) -> String? {
        let path = try text(bytes, limit: TokenRequest.longestPath)
        return path.isEmpty ? nil : path
    }
}
