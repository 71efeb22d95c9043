public import WatchwordCryptography
package import WatchwordSystem

// The protocol between `watchword` and `watchword-token`, in frames (see `IncomingFrame`). Numbers
// are big-endian, except in ``TokenRefusal``.
//
// helper → watchword, first: ready
// watchword → helper, once:  a ``TokenRequest``
// helper → watchword, each:  asksPIN or touch; after asksPIN, the helper waits for the answer before
//                            it sends the next frame
// watchword → helper, each:  the PIN, or nothing to cancel, after one byte (1)
// helper → watchword, last:  done or refused

/// What a device has done.
public enum TokenResult: Sendable {
    /// The sealed secret.
    case sealed(TPMObject)
    /// The key, and its public key.
    case madeKey(TPMKey, point: [UInt8])
    /// The signature in DER.
    case signature([UInt8])
    /// What the TPM says about the key.
    case attested(KeyAttestation)
    /// The new credential and its secret.
    case made(FIDOCredential, SecretBytes)
    /// The secret.
    case secret(SecretBytes)
}

/// A frame from the helper.
package enum TokenMessage {
    case ready(version: UInt8)
    case asksPIN(isRepeated: Bool, left: UInt32?)
    /// The person must touch the authenticator; `count` touches in total.
    case touch(number: UInt8, count: UInt8)
    case done(TokenResult)
    case refused(TokenRefusal)

    package static let version: UInt8 = 3
    /// The maximum size of a frame in bytes.
    package static let largestFrame = 2 + KeyAttestation.largest
    /// The maximum size of an answer's frame in bytes.
    package static let largestAnswer = 1 + TokenRequest.longestAuthenticatorPIN

    private enum Kind: UInt8 {
        case ready = 1
        case asksPIN = 2
        case touch = 3
        case sealed = 4
        case made = 5
        case secret = 6
        case refused = 7
        case madeKey = 8
        case signature = 9
        case attested = 10
    }

    /// Appends the frame, with its length, to an empty buffer.
    package func encode(into buffer: WipedBuffer) {
        buffer.append([0, 0, 0, 0])
        switch self {
        case .ready(let version): buffer.append([Kind.ready.rawValue, version])
        case .asksPIN(let isRepeated, let left):
            buffer.append([Kind.asksPIN.rawValue, isRepeated ? 1 : 0])
            buffer.append { $0.append(UInt64(left ?? .max), bytes: 4) }
        case .touch(let number, let count):
            buffer.append([Kind.touch.rawValue, number, count])
        case .done(.sealed(let object)):
            buffer.append([Kind.sealed.rawValue])
            buffer.append { output in
                output.append(string: object.publicArea.span)
                output.append(string: object.privateArea.span)
            }
            buffer.append([object.requiresPIN ? 1 : 0, object.isBoundToPCR7 ? 1 : 0])
        case .done(.madeKey(let key, let point)):
            buffer.append([Kind.madeKey.rawValue])
            buffer.append { output in
                output.append(key)
                output.append(string: point.span)
            }
        case .done(.signature(let signature)):
            buffer.append([Kind.signature.rawValue])
            buffer.append { $0.append(string: signature.span) }
        case .done(.attested(let attestation)):
            let parts = attestation.parts
            buffer.append([Kind.attested.rawValue, UInt8(parts.count)])
            buffer.append { output in
                for part in parts { output.append(string: part.span) }
            }
        case .done(.made(let credential, let secret)):
            buffer.append([Kind.made.rawValue])
            buffer.append { output in
                output.append(string: credential.id.span)
                output.append(string: credential.salt.span)
                output.append(string: Array(credential.relyingParty.utf8).span)
            }
            buffer.append([credential.requiresPIN ? 1 : 0])
            secret.withBytes { bytes in buffer.append { $0.append(string: bytes) } }
        case .done(.secret(let secret)):
            buffer.append([Kind.secret.rawValue])
            secret.withBytes { bytes in buffer.append { $0.append(string: bytes) } }
        case .refused(let refusal): buffer.append([Kind.refused.rawValue] + refusal.bytes)
        }
        buffer.replace(from: 0, with: UInt32(buffer.count - 4).littleEndianBytes.span)
    }

    /// Parses a frame without its length; `nil` if it breaks the protocol.
    init?(parsing frame: Span<UInt8>) {
        do { try self.init(reading: frame) } catch { return nil }
    }

    private init(reading frame: Span<UInt8>) throws(FieldReader.Unreadable) {
        var fields = FieldReader(.bigEndian)
        guard let kind = Kind(rawValue: try fields.byte(frame)) else {
            throw FieldReader.Unreadable()
        }
        switch kind {
        case .ready: self = .ready(version: try fields.byte(frame))
        case .asksPIN:
            let isRepeated = try fields.flag(frame)
            let left = UInt32(truncatingIfNeeded: try fields.number(frame, width: 4))
            self = .asksPIN(isRepeated: isRepeated, left: left == .max ? nil : left)
        case .touch: self = .touch(number: try fields.byte(frame), count: try fields.byte(frame))
        case .sealed:
            self = .done(.sealed(try fields.object(frame)))
        case .madeKey:
            let key = try fields.key(frame)
            let point = try fields.data(frame, limit: TPMKey.pointCount)
            guard point.count == TPMKey.pointCount else { throw FieldReader.Unreadable() }
            self = .done(.madeKey(key, point: point))
        case .signature:
            self = .done(.signature(try fields.data(frame, limit: TPMKey.longestSignature)))
        case .attested: self = .done(.attested(try fields.attestation(frame)))
        case .made:
            let credential = try fields.credential(frame)
            self = .done(.made(credential, try fields.tokenSecret(frame)))
        case .secret: self = .done(.secret(try fields.tokenSecret(frame)))
        case .refused:
            self = .refused(try TokenRefusal(parsing: frame.extracting(1...)))
            return
        }
        try fields.finish(frame)
    }
}

extension FieldReader {
    fileprivate mutating func attestation(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> KeyAttestation {
        var parts: [[UInt8]] = []
        for _ in 0..<(try byte(bytes)) {
            parts.append(try data(bytes, limit: KeyAttestation.largestPart))
        }
        guard let attestation = KeyAttestation(parts: parts) else { throw Unreadable() }
        return attestation
    }

    fileprivate mutating func tokenSecret(_ bytes: Span<UInt8>) throws(Unreadable) -> SecretBytes {
        let secret = try secret(bytes, limit: TokenRequest.secretCount)
        guard secret.count == TokenRequest.secretCount else { throw Unreadable() }
        return secret
    }
}
