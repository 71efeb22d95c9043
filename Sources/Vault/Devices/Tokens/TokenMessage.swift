internal import WatchwordCoding
public import WatchwordCryptography
package import WatchwordSystem

// The protocol between `watchword` and `watchword-token`, in frames (see `IncomingFrame`).
//
// helper → watchword, first: ready
// watchword → helper, once:  a ``TokenRequest``
// helper → watchword, each:  asksPIN or touch; after asksPIN, the helper waits for the answer
//                            before it sends the next frame
// watchword → helper, each:  the PIN, or nothing to cancel
// helper → watchword, last:  done or refused

/// The result of a request to a device.
public enum TokenResponse: Sendable {
    /// The secret as the TPM sealed it.
    case sealed(TPMObject)
    /// The key, and its public key.
    case madeKey(TPMKey, point: [UInt8])
    /// The signature in DER.
    case signature([UInt8])
    /// The TPM's attestation of the key.
    case attested(KeyAttestation)
    /// The new credential and its secret.
    case made(FIDOCredential, SecretBytes)
    /// The secret that was requested.
    case secret(SecretBytes)
}

/// A frame from the helper.
package enum TokenMessage {
    case ready(version: UInt8)
    case asksPIN(isRepeated: Bool, left: UInt32?)
    /// The person must touch the authenticator; `count` touches in total.
    case touch(number: UInt8, count: UInt8)
    case done(TokenResponse)
    case refused(TokenFailure)

    package static let version: UInt8 = 4
    /// The maximum size of a frame in bytes.
    package static let largestFrame = 2 + KeyAttestation.largest
    /// The maximum size of an answer's frame in bytes.
    package static let largestAnswer = 5 + TokenRequest.longestAuthenticatorPIN
}

extension TokenMessage: Transferable {
    private enum Kind: UInt8, Transferable {
        // Other versions of the protocol report their version in the same form.
        case ready = 1
        case asksPIN, touch, done, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .ready(let version): output.append(Kind.ready, version)
        case .asksPIN(let isRepeated, let left): output.append(Kind.asksPIN, isRepeated, left)
        case .touch(let number, let count): output.append(Kind.touch, number, count)
        case .done(let result): output.append(Kind.done, result)
        case .refused(let refusal): output.append(Kind.refused, refusal)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .ready: self = try fields.make(Self.ready, from: bytes)
        case .asksPIN: self = try fields.make(Self.asksPIN, from: bytes)
        case .touch: self = try fields.make(Self.touch, from: bytes)
        case .done: self = try fields.make(Self.done, from: bytes)
        case .refused:
            let failure: TokenFailure = try fields.value(bytes)
            guard failure.isReportedByHelper else { throw Unreadable() }
            self = .refused(failure)
        }
    }
}

extension TokenResponse: Transferable {
    private enum Kind: UInt8, Transferable {
        case sealed, madeKey, signature, attested, made, secret
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .sealed(let object): output.append(Kind.sealed, object)
        case .madeKey(let key, let point): output.append(Kind.madeKey, key, point)
        case .signature(let signature): output.append(Kind.signature, signature)
        case .attested(let attestation): output.append(Kind.attested, attestation)
        case .made(let credential, let secret): output.append(Kind.made, credential, secret)
        case .secret(let secret): output.append(Kind.secret, secret)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .sealed: self = try fields.make(Self.sealed, from: bytes)
        case .madeKey:
            let key: TPMKey = try fields.value(bytes)
            let point = try fields.data(bytes, limit: TPMKey.pointCount)
            guard point.count == TPMKey.pointCount else { throw Unreadable() }
            self = .madeKey(key, point: point)
        case .signature:
            self = .signature(try fields.data(bytes, limit: TPMKey.longestSignature))
        case .attested: self = try fields.make(Self.attested, from: bytes)
        case .made: self = .made(try fields.value(bytes), try fields.slotSecret(bytes))
        case .secret: self = .secret(try fields.slotSecret(bytes))
        }
    }
}

extension FieldReader {
    fileprivate mutating func slotSecret(_ bytes: Span<UInt8>) throws(Unreadable) -> SecretBytes {
        let secret = try secret(bytes, limit: TokenRequest.secretCount)
        guard secret.count == TokenRequest.secretCount else { throw Unreadable() }
        return secret
    }
}

/// A PIN, or none; an empty PIN counts as none.
package struct OptionalPIN: Transferable {
    package let pin: SecretBytes?

    package init(_ pin: SecretBytes?) { self.pin = pin.flatMap { $0.count > 0 ? $0 : nil } }

    package func write(to output: FrameWriter) { output.append(pin) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        pin = try fields.pin(bytes, limit: TokenRequest.longestAuthenticatorPIN)
    }
}

extension FieldReader {
    /// Reads an ``OptionalPIN`` of at most `limit` bytes.
    mutating func pin(_ bytes: Span<UInt8>, limit: Int) throws(Unreadable) -> SecretBytes? {
        guard try flag(bytes) else { return nil }
        let pin = try secret(bytes, limit: limit)
        guard pin.count > 0 else { throw Unreadable() }
        return pin
    }
}
