import TestSupport
import Testing

@testable import WatchwordCryptography

struct SealingVector: Codable, Sendable {
    let test: Int
    let key: String
    let nonce: String
    let associatedData: String
    let plaintext: String
    let ciphertext: String
    let tag: String
}

@Suite("Sealed boxes")
struct SealingKeyTests {
    private let key: SealingKey
    private let data = Array("associated".utf8)

    init() { key = SealingKey(Randomness.secret(count: 32)) }

    @Test(
        "boxes match published test vectors",
        arguments: try VectorFile<SealingVector>("sealing/aes-256-gcm.json").cases)
    func matches(vector: SealingVector) throws {
        let key = SealingKey(try SecretBytes(hex: vector.key))
        let data = try Hex.bytes(vector.associatedData)
        let plaintext = try Hex.bytes(vector.plaintext)
        let nonce = try Hex.bytes(vector.nonce)
        let box = key.seal(plaintext.span, associatedData: data.span, nonce: nonce)
        #expect(Hex.text(box) == vector.nonce + vector.ciphertext + vector.tag)
        #expect(try open(box, with: key, data).hex == vector.plaintext)
    }

    @Test(
        "a ciphertext with a nonce of a different length can be opened",
        arguments: try VectorFile<SealingVector>("sealing/aes-256-gcm-nonces.json").cases)
    func otherNonces(vector: SealingVector) throws {
        let key = SealingKey(try SecretBytes(hex: vector.key))
        let data = try Hex.bytes(vector.associatedData)
        let nonce = try Hex.bytes(vector.nonce)
        var sealed = try Hex.bytes(vector.ciphertext + vector.tag)
        let opened = try key.open(sealed.span, nonce: nonce.span, associatedData: data.span)
        #expect(opened.hex == vector.plaintext)
        sealed[0] ^= 1
        #expect(throws: CryptographyError.notAuthentic) {
            _ = try key.open(sealed.span, nonce: nonce.span, associatedData: data.span)
        }
        #expect(throws: CryptographyError.ciphertextLength) {
            _ = try key.open(
                sealed.span.extracting(..<15), nonce: nonce.span, associatedData: data.span)
        }
    }

    @Test("a box opens with its key and its associated data", arguments: [0, 1, 16, 1000])
    func opens(count: Int) throws {
        let secret = Randomness.secret(count: count)
        let box = key.seal(secret, associatedData: data.span)
        #expect(box.count == count + SealingKey.overhead)
        #expect(try open(box, with: key, data) == secret)
    }

    @Test("a box with any byte changed is refused")
    func changed() throws {
        let box = key.seal(SecretBytes(text: "abc"), associatedData: data.span)
        for index in box.indices {
            var other = box
            other[index] ^= 1
            #expect(throws: CryptographyError.notAuthentic) { _ = try open(other, with: key, data) }
        }
    }

    @Test("different associated data, a different key and a shorter box are refused")
    func refused() throws {
        let box = key.seal(SecretBytes(text: ""), associatedData: data.span)
        let other = SealingKey(Randomness.secret(count: 32))
        #expect(throws: CryptographyError.notAuthentic) { _ = try open(box, with: key, []) }
        #expect(throws: CryptographyError.notAuthentic) { _ = try open(box, with: other, data) }
        #expect(throws: CryptographyError.ciphertextLength) {
            _ = try open(box.dropLast(), with: key, data)
        }
    }

    @Test("two boxes with the same content differ")
    func nonces() {
        let secret = SecretBytes(text: "same")
        let first = key.seal(secret, associatedData: data.span)
        let second = key.seal(secret, associatedData: data.span)
        #expect(first != second)
    }

    private func open(
        _ box: [UInt8], with key: SealingKey, _ data: [UInt8]
    ) throws(CryptographyError) -> SecretBytes {
        try key.open(box.span, associatedData: data.span)
    }
}
