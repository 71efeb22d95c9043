import TestSupport
import Testing

@testable import WatchwordCryptography

struct AgreementVector: Codable, Sendable {
    let `private`: String
    let peer: String
    let secret: String
    var `public`: String?
}

struct AgreementKeyTests {
    @Test(
        "X25519 matches RFC 7748",
        arguments: try VectorFile<AgreementVector>("kdf/rfc7748-x25519.json").cases)
    func matches(vector: AgreementVector) throws {
        let key = try AgreementKey(SecretBytes(hex: vector.private))
        if let expected = vector.public { #expect(Hex.text(key.publicKey) == expected) }
        let peer = try Hex.bytes(vector.peer)
        #expect(try key.agreedSecret(with: peer.span).hex == vector.secret)
    }

    @Test("two new key pairs differ and agree on the same secret")
    func pairs() throws {
        let (first, second) = (try AgreementKey.make(), try AgreementKey.make())
        #expect(first.publicKey != second.publicKey)
        let one = try first.agreedSecret(with: second.publicKey.span)
        #expect(try one == second.agreedSecret(with: first.publicKey.span))
    }

    @Test("public keys of small order are refused (RFC 7748, section 6.1)")
    func smallOrder() throws {
        let key = try AgreementKey.make()
        // The points 0, 1 and -1, and a point of order 8.
        let weak = [
            String(repeating: "00", count: 32), "01" + String(repeating: "00", count: 31),
            "ec" + String(repeating: "ff", count: 30) + "7f",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        ]
        for text in weak {
            let peer = try Hex.bytes(text)
            #expect(throws: CryptographyError.smallOrder) {
                try key.agreedSecret(with: peer.span)
            }
        }
    }
}
