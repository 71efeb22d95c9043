import TestSupport
import Testing
import WatchwordCryptography

struct Base64Vector: Codable, Sendable {
    let bytes: String
    let text: String
}

@Suite("Base64")
struct Base64Tests {
    @Test(
        "Base64 matches RFC 4648",
        arguments: try VectorFile<Base64Vector>("base32/base64-rfc4648.json").cases)
    func matches(vector: Base64Vector) throws {
        let bytes = try Hex.bytes(vector.bytes)
        let text = Array(vector.text.utf8)
        let secret = try SecretBytes(hex: vector.bytes)
        #expect(Base64.encode(bytes.span) == text)
        #expect(try decode(text) == bytes)
        #expect(try Base64.decodeSecret(text.span).hex == vector.bytes)
        #expect(Base64.encode(secret) == SecretBytes(text: vector.text))
    }

    @Test("byte strings of every length from 0 to 256 round-trip")
    func roundTrip() throws {
        let bytes = (0...255).map { UInt8($0) }
        for count in 0...256 {
            let part = Array(bytes[..<count])
            #expect(try decode(Base64.encode(part.span)) == part)
        }
    }

    @Test(
        "text that is not canonical is refused",
        arguments: [
            ("Zg", CryptographyError.base64Length), ("Zg=", .base64Length),
            ("Zg==\n", .base64Length),
            ("Zg=a", .notBase64(at: 2)), ("Zg==Zg==", .notBase64(at: 2)),
            ("====", .notBase64(at: 0)), ("Z===", .notBase64(at: 1)), ("Zm9-", .notBase64(at: 3)),
            ("Zm9 ", .notBase64(at: 3)), ("Zh==", .nonzeroTrailingBits),
            ("Zm9=", .nonzeroTrailingBits),
        ])
    func refused(text: String, error: CryptographyError) {
        #expect(throws: error) { try decode(Array(text.utf8)) }
    }

    private func decode(_ text: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try Base64.decode(text.span)
    }
}
