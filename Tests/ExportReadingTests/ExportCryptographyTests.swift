import ExportReading
import TestSupport
import Testing
import WatchwordCryptography

struct Argon2Vector: Codable, Sendable {
    let variant: String
    let password: String
    let salt: String
    let secret: String
    let associatedData: String
    let passes: UInt64
    let kibibytes: UInt64
    let lanes: UInt64
    let output: String
}

struct TwofishVector: Codable, Sendable {
    let key: String
    let ciphertext: String
    let plaintext: String
}

struct Salsa20Vector: Codable, Sendable {
    let key: String
    let nonce: String
    let keystream: String
}

struct SecretStreamVector: Codable, Sendable {
    let tag: UInt8
    let key: String
    let header: String
    let plaintext: String
    let message: String
}

@Suite("Cryptography of exports")
struct ExportCryptographyTests {
    @Test(
        "Argon2 matches RFC 9106",
        arguments: try VectorFile<Argon2Vector>("kdf/rfc9106-argon2.json").cases)
    func argon2Matches(vector: Argon2Vector) throws { try check(vector, .current) }

    @Test(
        "Argon2 version 0x10 matches its authors' known answers",
        arguments: try VectorFile<Argon2Vector>("kdf/argon2-0x10.json").cases)
    func oldArgon2Matches(vector: Argon2Vector) throws { try check(vector, .old) }

    private func check(_ vector: Argon2Vector, _ version: Argon2Version) throws {
        let salt = try Hex.bytes(vector.salt)
        var argon2 = Argon2(
            vector.variant == "d" ? .d : .id, version: version, kibibytes: vector.kibibytes,
            passes: vector.passes, lanes: vector.lanes)
        argon2.secret = try Hex.bytes(vector.secret)
        argon2.associatedData = try Hex.bytes(vector.associatedData)
        let key = try argon2.key(
            from: try SecretBytes(hex: vector.password), salt: salt.span, count: 32)
        #expect(key.hex == vector.output)
    }

    @Test("an empty Argon2 password, which libgcrypt refuses, is reported as wrong")
    func emptyPassword() throws {
        let salt = [UInt8](repeating: 1, count: 8)
        let argon2 = Argon2(.id, kibibytes: 8, passes: 1, lanes: 1)
        func derive(_ password: String) throws -> Int {
            try argon2.key(from: SecretBytes(text: password), salt: salt.span, count: 64).count
        }
        #expect(try derive("a") == 64)
        #expect(throws: ContainerError.wrongPassword) { _ = try derive("") }
    }

    @Test(
        "Twofish matches its specification",
        arguments: try VectorFile<TwofishVector>("decryption/twofish.json").cases)
    func twofish(vector: TwofishVector) throws {
        let key = try SecretBytes(hex: vector.key)
        let zeros = [UInt8](repeating: 0, count: 16)
        let ciphertext = try Hex.bytes(vector.ciphertext)
        let first = try decryptTwofishCBC(ciphertext.span, key: key, vector: zeros.span)
        #expect(first.hex == vector.plaintext)
        // In CBC, the second block is combined with the first ciphertext.
        let twice = ciphertext + ciphertext
        let both = try decryptTwofishCBC(twice.span, key: key, vector: zeros.span)
        #expect(both.hex == vector.plaintext + vector.ciphertext)
        #expect(throws: ContainerError.damaged) {
            _ = try decryptTwofishCBC(
                ciphertext.span.extracting(..<15), key: key, vector: zeros.span)
        }
        #expect(throws: ContainerError.damaged) {
            _ = try decryptTwofishCBC(
                ciphertext.span, key: try SecretBytes(hex: "00"), vector: zeros.span)
        }
    }

    @Test(
        "Salsa20 matches eSTREAM's vectors, as a whole and in pieces",
        arguments: try VectorFile<Salsa20Vector>("decryption/salsa20.json").cases)
    func salsa20(vector: Salsa20Vector) throws {
        let key = try SecretBytes(hex: vector.key)
        let nonce = try Hex.bytes(vector.nonce)
        let zeros = [UInt8](repeating: 0, count: vector.keystream.utf8.count / 2)
        let whole = try Salsa20Stream(key: key, nonce: nonce.span)
        #expect(try whole.apply(to: zeros.span).hex == vector.keystream)
        let pieces = try Salsa20Stream(key: key, nonce: nonce.span)
        var hex = ""
        for range in [0..<1, 1..<1, 1..<30, 30..<zeros.count] {
            hex += try pieces.apply(to: zeros.span.extracting(range)).hex
        }
        #expect(hex == vector.keystream)
    }

    @Test(
        "a message of a stream opens only with its key and header, and only if it is unchanged",
        arguments: try VectorFile<SecretStreamVector>("decryption/secretstream.json").cases)
    func secretStream(vector: SecretStreamVector) throws {
        let key = try SecretBytes(hex: vector.key)
        let header = try Hex.bytes(vector.header)
        let message = try Hex.bytes(vector.message)
        func open(_ message: [UInt8], _ header: [UInt8]) throws -> String {
            try openSecretStream(message.span, key: key, header: header.span).text
        }
        #expect(try open(message, header) == vector.plaintext)
        for index in [0, 1, message.count - 1] {
            var changed = message
            changed[index] ^= 1
            #expect(throws: ContainerError.wrongPassword) { _ = try open(changed, header) }
        }
        #expect(throws: ContainerError.wrongPassword) {
            _ = try open(message, Array(header.reversed()))
        }
        #expect(throws: ContainerError.damaged) { try open(Array(message.prefix(16)), header) }
        #expect(throws: ContainerError.damaged) { _ = try open(message, []) }
    }
}
