import TestSupport
import Testing

@testable import WatchwordCryptography

@Suite("Signing keys")
struct SigningKeyTests {
    /// d and the point of the test vector of device keys.
    private static let scalar = "c1f186d56e6780823dd4c18aa6fc3ee2b7d6df281d0935c55f88f39d1ab3512b"
    private static let point =
        "040f2185694f28317b44e3fffd2d90ae855204659eb61ff555180d8e55a3a40773"
        + "97dce135cff1e43e77c8ff48ce3ae31678b4a1e6059e4b0c599b88ceae87e8ee"
    private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

    @Test("the point is computed from the scalar")
    func point() throws {
        let key = try SigningKey(scalar: SecretBytes(hex: Self.scalar))
        #expect(Hex.text(key.point) == Self.point)
        #expect(key.scalar.hex == Self.scalar)
    }

    @Test("a signature is valid for its message and its key alone")
    func sign() throws {
        let key = try SigningKey(scalar: SecretBytes(hex: Self.scalar))
        let other = try SigningKey.make()
        let message = Array("Paper Mill".utf8)
        let changed = Array("Paper mill".utf8)
        let signature = try key.sign(message.span)
        #expect(signature.count <= 72)
        let verifier = try verificationKey(key)
        #expect(try verifier.isValid(signature.span, of: message.span))
        #expect(try !verifier.isValid(signature.span, of: changed.span))
        #expect(try !verificationKey(other).isValid(signature.span, of: message.span))
        #expect(try key.sign(message.span) != signature)
    }

    @Test("a new key can be used again from its scalar, which stays in the locked heap")
    func make() throws {
        for _ in 0..<20 {
            let key = try SigningKey.make()
            #expect(key.scalar.count == 32)
            #expect(try SigningKey(scalar: key.scalar).point == key.point)
            let message = key.point
            let signature = try key.sign(message.span)
            #expect(try verificationKey(key).isValid(signature.span, of: message.span))
        }
    }

    @Test("every byte varies among new keys")
    func distinct() throws {
        let scalars = try (0..<BitVariation.valueCount).map { _ in
            try SigningKey.make().scalar.known
        }
        #expect(BitVariation(scalars).constantBytes.isEmpty)
    }

    @Test(
        "a scalar that is zero, not below the order or of the wrong length is refused",
        arguments: [
            String(repeating: "00", count: 32), order, String(repeating: "ff", count: 32),
            String(scalar.dropLast(2)), scalar + "00", "",
        ])
    func outOfRange(text: String) throws {
        let scalar = try SecretBytes(hex: text)
        #expect(throws: CryptographyError.scalar) { try SigningKey(scalar: scalar) }
    }

    @Test("the smallest and the largest scalar are accepted")
    func range() throws {
        let one = try SigningKey(scalar: SecretBytes(hex: String(repeating: "0", count: 63) + "1"))
        let last = try SigningKey(scalar: SecretBytes(hex: String(Self.order.dropLast()) + "0"))
        // The generator and its negative have the same x.
        #expect(one.point[1..<33] == last.point[1..<33])
        #expect(one.point[33...] != last.point[33...])
    }

    private func verificationKey(_ key: SigningKey) throws -> VerificationKey {
        try VerificationKey(.ellipticCurve(.p256, point: key.point), algorithm: .es256)
    }
}
