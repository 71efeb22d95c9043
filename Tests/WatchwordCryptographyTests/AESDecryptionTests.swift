import TestSupport
import Testing

@testable import WatchwordCryptography

struct AESVector: Codable, Sendable {
    let mode: String
    let key: String
    let vector: String
    let ciphertext: String
    let plaintext: String
}

struct KeyWrapVector: Codable, Sendable {
    let section: String
    let kek: String
    let wrapped: String
    let key: String
}

struct ChaCha20Vector: Codable, Sendable {
    let key: String
    let nonce: String
    let counter: UInt32
    let ciphertext: String
    let plaintext: String
}

@Suite("Decryption without authentication")
struct AESDecryptionTests {
    private let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32).span)
    private let vector = [UInt8](repeating: 2, count: 16)

    @Test(
        "AES matches NIST's examples",
        arguments: try VectorFile<AESVector>("decryption/aes-modes.json").cases)
    func modes(example: AESVector) throws {
        let mode = try #require(AESMode(rawValue: example.mode))
        let plaintext = try decrypt(
            try Hex.bytes(example.ciphertext), mode, try SecretBytes(hex: example.key),
            try Hex.bytes(example.vector))
        #expect(plaintext.hex == example.plaintext)
    }

    @Test("PKCS #7 padding is removed, and invalid padding is refused")
    func padding() throws {
        // "abc" and 13 bytes of padding, encrypted with openssl enc -aes-256-cbc.
        let ciphertext = try Hex.bytes("330ad2994e4f4797f1e48bd2ffa25756")
        #expect(try decrypt(ciphertext, .cbc, key, vector, hasPadding: true).text == "abc")
        let whole = try decrypt(ciphertext, .cbc, key, vector).known
        #expect(whole == Array("abc".utf8) + [UInt8](repeating: 13, count: 13))
        var changed = vector
        changed[15] ^= 1
        #expect(throws: CryptographyError.wrongKey) {
            _ = try decrypt(ciphertext, .cbc, key, changed, hasPadding: true)
        }
    }

    @Test("wrong lengths are refused")
    func lengths() {
        let short = SecretBytes(copying: [UInt8](repeating: 1, count: 31).span)
        let block = [UInt8](repeating: 3, count: 16)
        #expect(throws: CryptographyError.keyLength) { _ = try decrypt(block, .cbc, short, vector) }
        for (mode, wrong) in [(AESMode.cbc, vector.dropLast()), (.ecb, vector[...])] {
            #expect(throws: CryptographyError.vectorLength) {
                _ = try decrypt(block, mode, key, Array(wrong))
            }
        }
        #expect(throws: CryptographyError.ciphertextLength) {
            _ = try decrypt(block.dropLast(), .cbc, key, vector)
        }
        #expect(throws: CryptographyError.ciphertextLength) {
            _ = try decrypt([], .cbc, key, vector, hasPadding: true)
        }
    }

    @Test(
        "key unwrapping matches RFC 3394",
        arguments: try VectorFile<KeyWrapVector>("decryption/rfc3394-key-wrap.json").cases)
    func keyWrap(example: KeyWrapVector) throws {
        let kek = try SecretBytes(hex: example.kek)
        var wrapped = try Hex.bytes(example.wrapped)
        #expect(try unwrapKey(wrapped.span, with: kek).hex == example.key)
        wrapped[7] ^= 1
        #expect(throws: CryptographyError.wrongKey) { _ = try unwrapKey(wrapped.span, with: kek) }
        #expect(throws: CryptographyError.ciphertextLength) {
            _ = try unwrapKey(wrapped.span.extracting(..<16), with: kek)
        }
    }

    @Test(
        "ChaCha20 matches RFC 8439, whole and in pieces",
        arguments: try VectorFile<ChaCha20Vector>("decryption/rfc8439-chacha20.json").cases)
    func chaCha20(example: ChaCha20Vector) throws {
        let key = try SecretBytes(hex: example.key)
        let nonce = try Hex.bytes(example.nonce)
        let text = try Hex.bytes(example.ciphertext)
        let whole = try ChaCha20Stream(key: key, nonce: nonce.span, counter: example.counter)
        #expect(try whole.apply(to: text.span).hex == example.plaintext)
        let pieces = try ChaCha20Stream(key: key, nonce: nonce.span, counter: example.counter)
        var hex = ""
        for range in [0..<1, 1..<1, 1..<40, 40..<text.count] {
            hex += try pieces.apply(to: text.span.extracting(range)).hex
        }
        #expect(hex == example.plaintext)
        #expect(throws: CryptographyError.vectorLength) {
            _ = try ChaCha20Stream(key: key, nonce: nonce.span.extracting(..<8))
        }
    }

    @Test("repeated encryption of blocks is reversed by as many decryptions")
    func repeated() throws {
        let blocks = SecretBytes(copying: [UInt8](0..<32).span)
        // More rounds than fit into one call.
        let rounds = 5000
        var text = try encryptRepeatedly(blocks, key: key, rounds: UInt64(rounds))
        for _ in 0..<rounds { text = try decrypt(text.known, .ecb, key, []) }
        #expect(text == blocks)
        #expect(try encryptRepeatedly(blocks, key: key, rounds: 0) == blocks)
    }

    private func decrypt(
        _ ciphertext: [UInt8], _ mode: AESMode, _ key: SecretBytes, _ vector: [UInt8],
        hasPadding: Bool = false
    ) throws -> SecretBytes {
        try decryptAES(
            ciphertext.span, mode: mode, key: key, vector: vector.span, hasPadding: hasPadding)
    }
}
