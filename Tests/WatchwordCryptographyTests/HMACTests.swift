import TestSupport
import Testing
import WatchwordCryptography

struct HMACVector: Codable, Sendable {
    let test: Int
    let algorithm: String
    let key: String
    let message: String
    let hmac: String
}

@Suite("HMAC")
struct HMACTests {
    @Test("HMAC matches RFC 4231", arguments: try VectorFile<HMACVector>("hmac/rfc4231.json").cases)
    func matchesRFC4231(vector: HMACVector) throws { try check(vector) }

    @Test("HMAC matches RFC 2202", arguments: try VectorFile<HMACVector>("hmac/rfc2202.json").cases)
    func matchesRFC2202(vector: HMACVector) throws { try check(vector) }

    @Test("an HMAC does not depend on how the message is split", arguments: HashAlgorithm.allCases)
    func pieces(algorithm: HashAlgorithm) {
        let key = SecretBytes(text: "a key")
        let message = Array("one message in three pieces".utf8)
        var stream = HMACStream(algorithm, key: key)
        stream.update(message.span.extracting(..<1))
        stream.update(message.span.extracting(1..<1))
        stream.update(message.span.extracting(1...))
        let whole = hmac(algorithm, key: key, message: message.span)
        let pieces = stream.finish()
        #expect(pieces == whole)
    }

    @Test("an empty key is accepted")
    func emptyKey() {
        let none: [UInt8] = []
        let result = hmac(.sha1, key: SecretBytes(text: ""), message: none.span)
        #expect(Hex.text(result) == "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d")
    }

    private func check(_ vector: HMACVector) throws {
        let algorithm = try #require(HashAlgorithm(rawValue: vector.algorithm))
        let message = try Hex.bytes(vector.message)
        let key = try SecretBytes(hex: vector.key)
        let result = hmac(algorithm, key: key, message: message.span)
        // Test 5 of RFC 4231 has a truncated output.
        #expect(Hex.text(result).prefix(vector.hmac.count) == vector.hmac)
        #expect(result.count == algorithm.digestCount)
    }
}
