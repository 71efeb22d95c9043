import Cryptography
import OneTimePassword
import TestSupport

@testable import Verification

/// A key of which two neighbouring steps share a code, which happens once in a million.
struct EqualCodes {
    let key: SecretBytes
    /// The earlier of the two.
    let step: UInt64

    /// A pair that a search from step 1,000 on found first.
    static func known() throws -> EqualCodes {
        let key = SecretBytes(text: "equal codes in steps")
        let step: UInt64 = 1_171_997
        let generator = CodeGenerator(key: key, algorithm: .sha1, style: .decimal(.six))
        guard generator.code(at: step) == generator.code(at: step + 1) else {
            throw BenchError.refused
        }
        return EqualCodes(key: key, step: step)
    }
}
