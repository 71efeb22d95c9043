import TestSupport
import Verification
import WatchwordCryptography

// Public keys that every registration must refuse.
extension PasskeyCase {
    private static let coordinate = [UInt8](repeating: 0x11, count: 32)

    private static func key(
        _ name: String, _ reason: DenialReason, _ key: EncodedCBOR
    ) -> PasskeyCase {
        PasskeyCase(name, reason) { $0.editKey = { _ in key.encoded } }
    }

    private static func ellipticKey(
        _ name: String, _ reason: DenialReason = .publicKey, curve: Int64 = 1,
        x: [UInt8] = coordinate, y: EncodedCBOR = .bytes(coordinate)
    ) -> PasskeyCase {
        key(
            name, reason,
            .numbered([
                1: .integer(2), 3: .integer(-7), -1: .integer(curve), -2: .bytes(x), -3: y,
            ]))
    }

    /// A valid key, of which a test changes one part.
    private static func rsaKey(
        _ name: String, _ modulus: String = modulus, exponent: [UInt8] = [1, 0, 1],
        algorithm: Int64 = -257
    ) -> PasskeyCase {
        PasskeyCase(name, .publicKey) {
            $0.editKey = { _ in
                EncodedCBOR.numbered([
                    1: .integer(3), 3: .integer(algorithm), -1: .bytes(digits(modulus)),
                    -2: .bytes(exponent),
                ]).encoded
            }
        }
    }

    private static func digits(_ text: String) -> [UInt8] {
        let digits = text.compactMap { $0.hexDigitValue.map { UInt8($0) } }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The modulus of a key for which `Vectors/signatures/signatures.json` has signatures.
    private static let modulus = """
        a9a1f336db4c0325066b0a0ebf3b658582b47998983c6706ddd0106e417b460f46e0ae\
        0d527e41717c5c8a1a9e94a982dcb0d82df16e451fe00b734f630b4e94d38db1468494\
        d3e68f6bdb4e5b8b80a628283c3e0407212bfc2d4bcc2edb3dcb80dc43e3d5bf80359f\
        a44081a2b9710daefaad61ef286061fa725f1dbf87b2122c416b22f2a11cc261761752\
        261a41dfa79f7cabe03bd44e9834ce668d3c6205ef8edc230990ab7f1fd8f5e80226e4\
        db4ce48bb90e523dcec1979d381fc5985032181a8c32588fa9cfd4668a432f89499bf7\
        a11459c193dd3e86d1b2a5aaa3b49f9b4dcbecb140e374620fa01e4666660cad3ea8d1\
        8bf02af644b509c3f6bbf3
        """
    private static let shortModulus = """
        e841908c11260bbb7f4c58acaabb8683c34746e5013324b6a558fde767f677c53dc6ce\
        0e8e23d1fb7e3bd7bea8b2914b53d3466eab45e5d5fdbcac7c020338f1332c1b3f4aa3\
        74f0c628843ecd4e35ef3653dcf72958ef7732c412677eeb1736d22b04e3bdae62eabe\
        ea5c60171e28a440a6dfeac4e66c1829b0ee50e43a131d
        """

    static let keys: [PasskeyCase] = [
        PasskeyCase("K-28 an algorithm that does not exist", .algorithm) { $0.algorithm = -999 },
        key(
            "K-28 Ed25519, which is not offered", .algorithm,
            .numbered([
                1: .integer(1), 3: .integer(-8), -1: .integer(6),
                -2: .bytes([0x58] + [UInt8](repeating: 0x66, count: 31)),
            ])),
        PasskeyCase("K-29 RS256 with an elliptic-curve key", .publicKey) { $0.algorithm = -257 },
        rsaKey("K-29 ES256 with an RSA key", algorithm: -7),
        key(
            "K-30 -8 with Ed448", .publicKey,
            .numbered([
                1: .integer(1), 3: .integer(-8), -1: .integer(7),
                -2: .bytes([UInt8](repeating: 0x11, count: 57)),
            ])),
        ellipticKey("K-32 a point off the curve"),
        ellipticKey(
            "K-33 the point (0, 0)", x: [UInt8](repeating: 0, count: 32),
            y: .bytes([UInt8](repeating: 0, count: 32))),
        ellipticKey("K-34 a compressed point", y: .boolean(true)),
        ellipticKey("K-35 a coordinate of 31 bytes", x: Array(coordinate.dropLast())),
        ellipticKey("K-35 a coordinate of 33 bytes", x: [0] + coordinate),
        ellipticKey("another curve", curve: 2),
        rsaKey("K-36 RSA with 1,024 bits", shortModulus),
        rsaKey("K-36 RSA with a modulus that 31 divides", "c1" + modulus.dropFirst(2)),
        rsaKey("K-36 RSA with the exponent 1", exponent: [1]),
        rsaKey("K-36 RSA with the exponent 3", exponent: [3]),
        rsaKey("K-36 RSA with the exponent 65535", exponent: [0xff, 0xff]),
        rsaKey("K-36 RSA with the exponent 65536", exponent: [1, 0, 0]),
        key(
            "K-36 an Ed25519 key of small order", .publicKey,
            .numbered([
                1: .integer(1), 3: .integer(-8), -1: .integer(6),
                -2: .bytes([1] + [UInt8](repeating: 0, count: 31)),
            ])),
        PasskeyCase("K-41 a key's parameter twice", .authenticatorData) {
            $0.editKey = { [0xa6] + $0.dropFirst() + [0x22, 0x40] }
        },
        PasskeyCase("a key's further parameter", .authenticatorData) {
            $0.editKey = { [0xa6] + $0.dropFirst() + [0x23, 0x40] }
        },
    ]
}
