import TestSupport
import Testing

@testable import WatchwordCryptography

@Suite("Prepared keys")
struct PreparedKeyTests {
    @Test(
        "a prepared key computes the correct HMAC with compression functions and EVP contexts",
        arguments: HashAlgorithm.allCases, [false, true])
    func agreesWithHMAC(algorithm: HashAlgorithm, isEnveloped: Bool) {
        let counters: [UInt64] = [0, 1, 255, 1 << 31, 1 << 32, 1 << 63, .max]
        // Key lengths around the end of a block: 64 bytes, and 128 for SHA-512.
        for count in [1, 20, 63, 64, 65, 127, 128, 129, 300] {
            let key = Randomness.secret(count: count)
            let prepared = PreparedKey(key, algorithm: algorithm, isEnveloped: isEnveloped)
            for counter in counters {
                let message = (0..<8).map {
                    UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * $0))
                }
                let whole = hmac(algorithm, key: key, message: message.span)
                let expected = truncation(of: whole)
                let digest = prepared.authenticationCode(of: counter)
                #expect(digest.bytes == whole)
                #expect(digest.truncated == expected)
                #expect(prepared.truncatedCode(of: counter) == expected)
                let cold = PreparedKey.truncatedCode(of: counter, key: key, algorithm: algorithm)
                #expect(cold == expected)
            }
        }
    }

    @Test("truncation is correct at every offset", arguments: HashAlgorithm.allCases)
    func everyOffset(algorithm: HashAlgorithm) throws {
        let prepared = PreparedKey(SecretBytes(text: "any key"), algorithm: algorithm)
        var offsets: Set<UInt8> = []
        for counter in 0..<UInt64(500) {
            let digest = prepared.authenticationCode(of: counter).bytes
            offsets.insert(digest[digest.count - 1] & 15)
            #expect(prepared.truncatedCode(of: counter) == truncation(of: digest))
        }
        #expect(offsets.count == 16)
    }

    @Test(
        "OpenSSL's compression functions compute a known HMAC correctly",
        arguments: HashAlgorithm.allCases)
    func compressions(algorithm: HashAlgorithm) {
        #expect(CompressionCheck.isPassed(by: algorithm))
    }

    /// RFC 4226, section 5.3, byte by byte.
    private func truncation(of digest: [UInt8]) -> UInt32 {
        let offset = Int(digest[digest.count - 1] & 15)
        return digest[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
    }
}
