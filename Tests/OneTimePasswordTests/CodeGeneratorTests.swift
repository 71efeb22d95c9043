import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

struct HOTPVector: Codable, Sendable {
    let key: String
    let counter: UInt64
    let hmac: String
    let truncated: UInt32
    let code: String
}

struct TOTPVector: Codable, Sendable {
    let key: String
    let time: Int64
    let step: String
    let algorithm: String
    let code: String
}

struct WideCounterVector: Codable, Sendable {
    let key: String
    let counter: String
    let algorithm: String
    let truncated: UInt32
}

struct SteamVector: Codable, Sendable {
    let key: String
    let counter: UInt64
    let code: String
}

@Suite("Codes")
struct CodeGeneratorTests {
    @Test(
        "H-03 codes match RFC 4226, appendix D, also with seven and eight digits",
        arguments: try VectorFile<HOTPVector>("otp/rfc4226.json").cases)
    func matchesRFC4226(vector: HOTPVector) throws {
        let key = try SecretBytes(hex: vector.key)
        let digest = PreparedKey(key, algorithm: .sha1).authenticationCode(of: vector.counter)
        #expect(Hex.text(digest.bytes) == vector.hmac)
        #expect(digest.truncated == vector.truncated)
        for digits in 6...8 {
            let style = CodeStyle.decimal(try #require(CodeLength(digits: digits)))
            let code = CodeGenerator(key: key, algorithm: .sha1, style: style)
                .code(at: vector.counter)
            #expect(code.text == String(vector.truncated).leftPadded.suffix(digits))
            #expect(code.count == digits)
        }
        let six = CodeGenerator(key: key, algorithm: .sha1, style: .decimal(.six))
        #expect(six.code(at: vector.counter).text == vector.code)
    }

    @Test(
        "T-02 T-06 codes match RFC 6238, appendix B",
        arguments: try VectorFile<TOTPVector>("otp/rfc6238.json").cases)
    func matchesRFC6238(vector: TOTPVector) throws {
        let credential = try Credential(
            issuer: "", account: "", key: SecretBytes(hex: vector.key),
            algorithm: #require(HashAlgorithm(rawValue: vector.algorithm)),
            style: .decimal(.eight))
        #expect(try credential.step(atUnixTime: vector.time) == UInt64(vector.step, radix: 16))
        #expect(try credential.code(atUnixTime: vector.time).text == vector.code)
    }

    @Test(
        "H-04 T-06 codes are correct for counters and time steps beyond 32 bits, up to 2^64 - 1",
        arguments: try VectorFile<WideCounterVector>("otp/wide-counters.json").cases)
    func wideCounters(vector: WideCounterVector) throws {
        let counter = try #require(UInt64(vector.counter))
        let generator = CodeGenerator(
            key: try SecretBytes(hex: vector.key),
            algorithm: try #require(HashAlgorithm(rawValue: vector.algorithm)),
            style: .decimal(.eight))
        #expect(generator.code(at: counter).text == String(vector.truncated).leftPadded.suffix(8))
    }

    @Test(
        "Steam Guard codes match the known answers",
        arguments: try VectorFile<SteamVector>("otp/steam.json").cases)
    func steam(vector: SteamVector) throws {
        let generator = CodeGenerator(
            key: try SecretBytes(hex: vector.key), algorithm: .sha1, style: .steam)
        #expect(generator.code(at: vector.counter).text == vector.code)
    }
}

extension String {
    fileprivate var leftPadded: String { String(repeating: "0", count: 10 - count) + self }
}
