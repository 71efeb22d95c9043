import Synchronization
import TestSupport
import WatchwordCryptography

@testable import Verification

extension RandomSource {
    /// Produces the same bytes for the same seed.
    static func seeded(_ seed: UInt64) -> RandomSource {
        let generator = SharedGenerator(seed)
        return RandomSource(
            bytes: { count in generator.bytes(count) },
            secret: { count in SecretBytes(copying: generator.bytes(count).span) })
    }
}

/// A ``SeededGenerator`` for several closures.
private final class SharedGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(_ seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func bytes(_ count: Int) -> [UInt8] {
        generator.withLock { generator in
            (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        }
    }
}
