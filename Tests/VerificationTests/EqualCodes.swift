import Cryptography
import OneTimePassword
import TestSupport

@testable import Verification

/// A key of which two neighbouring steps share a code, which happens once in a million.
struct EqualCodes {
    let key: SecretBytes
    let step: UInt64

    /// The found pair; the search is written down so that it can be repeated.
    static func find() throws -> EqualCodes {
        let key = SecretBytes(text: "equal codes in steps")
        let generator = CodeGenerator(key: key, algorithm: .sha1, style: .decimal(.six))
        var last = generator.code(at: 1_000)
        for step in UInt64(1_001)..<20_000_000 {
            let code = generator.code(at: step)
            if code == last { return EqualCodes(key: key, step: step - 1) }
            last = code
        }
        throw BenchError.refused
    }
}
