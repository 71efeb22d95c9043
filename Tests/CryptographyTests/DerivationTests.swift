import TestSupport
import Testing

@testable import Cryptography

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
        let key = try hkdfSHA256(
            secret: secret, salt: salt.span, info: info.span, count: vector.count)
        #expect(key.hex == vector.output)
    }

    @Test("HKDF produces up to 255 digests and not one byte more")
    func hkdfLimit() throws {
        let secret = SecretBytes(text: "secret")
        let longest = try hkdfSHA256(
            secret: secret, salt: none.span, info: none.span, count: 255 * 32)
        #expect(longest.count == 255 * 32)
        let error = #expect(throws: CryptographyFailure.self) {
            _ = try hkdfSHA256(
                secret: secret, salt: none.span, info: none.span, count: 255 * 32 + 1)
        }
        #expect(error?.call == .hkdf)
    }

    @Test("a cost between 2^10 and 2^24 is accepted", arguments: [10, 24])
    func costInRange(logN: Int) throws { #expect(try ScryptCost(logN: logN).logN == logN) }

    @Test("a cost outside the range is refused", arguments: [9, 25, -1, Int.max])
    func costOutOfRange(logN: Int) {
        #expect(throws: CryptographyError.costOutOfRange(logN: logN)) { try ScryptCost(logN: logN) }
    }

    @Test("at the cost of a new vault, scrypt needs 128 MiB and a few kilobytes of memory")
    func standardCost() {
        #expect(ScryptCost.standard.memoryNeeded == (128 << 20) + 3 * 1024)
    }
}
