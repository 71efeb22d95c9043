import Cryptography
import Synchronization

@testable import Verification

extension RandomSource {
    /// Produces the same bytes for the same seed (SplitMix64).
    static func seeded(_ seed: UInt64) -> RandomSource {
        let generator = SplitMix(seed)
        return RandomSource(
            bytes: { count in generator.bytes(count) },
            secret: { count in SecretBytes(copying: generator.bytes(count).span) })
    }
}

private final class SplitMix: Sendable {
    private let state: Mutex<UInt64>

    init(_ seed: UInt64) { state = Mutex(seed) }

    func bytes(_ count: Int) -> [UInt8] {
        state.withLock { state in
            (0..<count).map { _ in
                state &+= 0x9e37_79b9_7f4a_7c15
                var mixed = state
                mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
                mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
                return UInt8(truncatingIfNeeded: mixed ^ (mixed >> 31))
            }
        }
    }
}
