import InstructionCounter
import OneTimePassword
import WatchwordCryptography

#if DEBUG
    @testable import Verification
#endif

/// Compares secrets under callgrind, and prints a group's name for each call.
///
/// All calls of a group must execute the same number of instructions.
@main struct Program {
    enum Failure: Error { case notCounted, unexpected(String) }

    static func main() throws {
        guard instruction_counter_is_there() != 0 else { throw Failure.notCounted }
        try comparing()
        try window()
        #if DEBUG
            try chains()
        #endif
    }

    /// Counts the instructions of the last of eight calls, after all one-time initialisation.
    private static func count(
        _ group: String, _ expected: Bool, _ call: () throws -> Bool
    ) throws {
        for _ in 0..<7 {
            guard try call() == expected else { throw Failure.unexpected(group) }
        }
        instruction_counter_start()
        let result = try call()
        instruction_counter_stop()
        guard result == expected else { throw Failure.unexpected(group) }
        print(group)
    }

    private static let known = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }

    /// The known bytes with one of them changed.
    private static func changed(at index: Int, count: Int = 64) -> [UInt8] {
        var bytes = Array(known.prefix(count))
        bytes[index] ^= 0x81
        return bytes
    }

    private static func comparing() throws {
        let secret = SecretBytes(copying: known.span)
        for index in [0, 1, 31, 62, 63] {
            let other = changed(at: index)
            try count("bytes", false) { isEqualInConstantTime(known.span, other.span) }
            let otherSecret = SecretBytes(copying: other.span)
            try count("secrets", false) { secret == otherSecret }
            // The negative control: this comparison returns at the first difference.
            try count("control", false) { known == other }
        }
    }

    private static func window() throws {
        let bytes = Array(known.prefix(20))
        let key = SecretBytes(copying: bytes.span)
        for algorithm in HashAlgorithm.allCases {
            let generator = CodeGenerator(
                key: key, algorithm: algorithm, style: .decimal(.six))
            func digits(_ step: UInt64) -> [UInt8] { Array(generator.code(at: step).text.utf8) }
            func match(_ code: [UInt8]) -> Int? {
                generator.match(code.span, around: 1_000, behind: 1, ahead: 1)
            }
            for offset in [-1, 0, 1] {
                let code = digits(UInt64(1_000 + offset))
                try count("right \(algorithm)", true) { match(code) == offset }
            }
            for step: UInt64 in [999, 1_000, 1_001] {
                for index in 0..<6 {
                    var code = digits(step)
                    code[index] = 0x30 + (code[index] - 0x30 + 5) % 10
                    try count("wrong \(algorithm)", true) { match(code) == nil }
                }
            }
        }
    }
}

#if DEBUG
    extension Program {
        /// Compares a presented secret with the digests of a credential's row.
        fileprivate static func chains() throws {
            let digest = Array(known.prefix(32))
            var chain = SecretChain(digest: digest, at: UnixTime(seconds: 0))
            for hasSuccessor in [false, true] {
                if hasSuccessor {
                    guard let verification = VerificationID(bytes: Array(known.prefix(16))) else {
                        throw Failure.unexpected("id")
                    }
                    chain.handedOut = SecretChain.Issued(
                        digest: digest.map { ~$0 }, nonceDigest: digest,
                        verification: verification, time: UnixTime(seconds: 0))
                }
                let group = hasSuccessor ? "successor" : "chain"
                for index in [0, 1, 15, 30, 31] {
                    // Similar to the current secret's digest, and to its successor's.
                    let current = changed(at: index, count: 32)
                    for presented in [current, current.map { ~$0 }] {
                        try count(group, true) {
                            chain.finding(presented, nonceDigest: digest, handedOutAs: nil)
                                == .foreign
                        }
                    }
                }
            }
        }
    }
#endif
