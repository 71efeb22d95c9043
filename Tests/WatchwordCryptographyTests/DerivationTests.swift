import TestSupport
import Testing

@testable import WatchwordCryptography

struct ScryptVector: Codable, Sendable {
    let passphrase: String
    let salt: String
    let logN: Int
    let r: Int
    let p: Int
    let output: String
}

struct HKDFVector: Codable, Sendable {
    let secret: String
    let salt: String
    let info: String
    let count: Int
    let output: String
}

struct PBKDF2Vector: Codable, Sendable {
    let algorithm: String
    let password: String
    let salt: String
    let iterations: Int
    let output: String
}

struct HKDFExpandVector: Codable, Sendable {
    let key: String
    let info: String
    let count: Int
    let output: String
}

@Suite("Key derivation")
struct DerivationTests {
    private let none: [UInt8] = []

    @Test(
        "scrypt matches RFC 7914",
        arguments: try VectorFile<ScryptVector>("kdf/rfc7914-scrypt.json").cases)
    func scryptMatches(vector: ScryptVector) throws {
        let cost = ScryptCost(checkedLogN: vector.logN, blockSize: vector.r, parallelism: vector.p)
        let salt = Array(vector.salt.utf8)
        let key = try scrypt(
            passphrase: SecretBytes(text: vector.passphrase), salt: salt.span, cost: cost,
            count: 64)
        #expect(key.hex == vector.output)
    }

    @Test(
        "HKDF matches RFC 5869",
        arguments: try VectorFile<HKDFVector>("kdf/rfc5869-hkdf.json").cases)
    func hkdfMatches(vector: HKDFVector) throws {
        let salt = try Hex.bytes(vector.salt)
        let info = try Hex.bytes(vector.info)
        let secret = try SecretBytes(hex: vector.secret)
        let key = hkdfSHA256(
            secret: secret, salt: salt.span, info: info.span, count: vector.count)
        #expect(key.hex == vector.output)
    }

    @Test(
        "HKDF's second step matches RFC 5869",
        arguments: try VectorFile<HKDFExpandVector>("kdf/rfc5869-hkdf-expand.json").cases)
    func hkdfExpandMatches(vector: HKDFExpandVector) throws {
        let info = try Hex.bytes(vector.info)
        let key = hkdfExpandSHA256(
            key: try SecretBytes(hex: vector.key), info: info.span, count: vector.count)
        #expect(key.hex == vector.output)
    }

    @Test(
        "PBKDF2 matches published test vectors",
        arguments: try VectorFile<PBKDF2Vector>("kdf/pbkdf2.json").cases)
    func pbkdf2Matches(vector: PBKDF2Vector) throws {
        let algorithm = try #require(HashAlgorithm(rawValue: vector.algorithm))
        let salt = try Hex.bytes(vector.salt)
        let key = try pbkdf2(
            algorithm, password: try SecretBytes(hex: vector.password), salt: salt.span,
            iterations: vector.iterations, count: vector.output.utf8.count / 2)
        #expect(key.hex == vector.output)
    }

    @Test("scrypt accepts Aegis' cost, which OpenSSL's default memory limit refuses")
    func scryptMemory() throws {
        let cost = ScryptCost(checkedLogN: 15, blockSize: 8, parallelism: 1)
        let key = try scrypt(
            passphrase: SecretBytes(text: "pw"), salt: none.span, cost: cost, count: 32)
        #expect(key.hex == "d8f8a96e53d7f2b9a6e683666e27c22e0f332a4a61f9e55aeaa70cba650c324b")
    }

    @Test("HKDF produces up to 255 digests, and ends the process for one byte more")
    func hkdfLimit() async {
        let secret = SecretBytes(text: "secret")
        let longest = hkdfSHA256(
            secret: secret, salt: none.span, info: none.span, count: 255 * 32)
        #expect(longest.count == 255 * 32)
        await #expect(processExitsWith: .failure) {
            let none: [UInt8] = []
            _ = hkdfSHA256(
                secret: SecretBytes(text: "secret"), salt: none.span, info: none.span,
                count: 255 * 32 + 1)
        }
    }

    @Test("a cost between 2^10 and 2^24 is accepted", arguments: [10, 24])
    func costInRange(logN: Int) { #expect(ScryptCost(logN: logN)?.logN == logN) }

    @Test("a cost below 2^10 or above 2^24 is refused", arguments: [9, 25, -1, Int.max])
    func costOutOfRange(logN: Int) { #expect(ScryptCost(logN: logN) == nil) }

    @Test("at the cost of a new vault, scrypt needs 128 MiB and a few kilobytes of memory")
    func standardCost() {
        #expect(ScryptCost.standard.memoryNeeded == (128 << 20) + 3 * 1024)
    }
}
