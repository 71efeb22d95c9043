internal import COpenSSL

/// A public key on P-256 that was checked, with whose owner a secret is agreed on.
public final class AgreementPoint: Sendable {
    /// The point in its uncompressed form: a byte 4, x and y.
    public let point: [UInt8]
    fileprivate let handle: KeyHandle

    /// Checks a key.
    ///
    /// - Throws: ``PublicKeyError/algorithm`` if it is not on P-256.
    public init(_ publicKey: PublicKey) throws(PublicKeyError) {
        guard case .ellipticCurve(.p256, let point) = publicKey else { throw .algorithm }
        self.point = point
        handle = try publicKey.checked()
    }
}

/// A key pair on P-256 that is made to agree on one secret (NIST SP 800-56A, section 5.7.1.2).
public struct EphemeralKey: Sendable {
    private let pair: SigningKey

    /// Generates a key pair.
    public static func make() throws(CryptographyFailure) -> EphemeralKey {
        EphemeralKey(pair: try SigningKey.make())
    }

    private init(pair: SigningKey) { self.pair = pair }

    /// Uses a known scalar.
    package init(scalar: SecretBytes) throws(SigningKeyError) {
        pair = try SigningKey(scalar: scalar)
    }

    /// The public point in its uncompressed form: a byte 4, x and y.
    public var point: [UInt8] { pair.point }

    /// The shared secret: the 32 bytes of an x-coordinate, which are not uniformly distributed.
    public func agreedSecret(
        with other: AgreementPoint
    ) throws(CryptographyFailure) -> SecretBytes {
        do throws(CryptographyError) {
            return try unsafe pair.handle.withKey { own throws(CryptographyError) in
                try unsafe other.handle.withKey { other throws(CryptographyError) in
                    try unsafe agreement(
                        of: own, with: other, count: EllipticCurve.p256.coordinateCount)
                }
            }
        } catch {
            guard case .failed(let failure) = error else {
                // The order of the curve is prime, and the point was checked.
                throw CryptographyFailure(call: .agreement, code: 0)
            }
            throw failure
        }
    }
}
