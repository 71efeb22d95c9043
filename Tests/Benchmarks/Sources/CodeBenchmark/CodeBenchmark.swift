import OneTimePassword
import WatchwordCryptography

/// Measures codes and the minimum number of compressions for them; prints “NAME NANOSECONDS” lines.
///
///     limit-*    two chained compressions        limit4-*   four of them
///     code-*     prepared key, digits into a span
///     latency-*  the same, where each code depends on the previous one
///     cold-*     from the key's bytes to the digits
///     window-miss, resync-miss  windows of 3 and 1,001 codes without a match
@main
enum CodeBenchmark {
    static let key = SecretBytes(copying: Array("12345678901234567890".utf8).span)

    static func main() {
        var watch = Stopwatch()
        let limits: KeyValuePairs<HashAlgorithm, (Int) -> Void> = [
            .sha1: Compressions.sha1, .sha256: Compressions.sha256, .sha512: Compressions.sha512,
        ]
        for (algorithm, compressions) in limits {
            let name = algorithm.rawValue.lowercased()
            watch.add("limit-\(name)", count: 20_000) { compressions(2 * $0) }
            watch.add("code-\(name)", count: 20_000) { codes($0, algorithm) }
            watch.add("latency-\(name)", count: 20_000) { chainedCodes($0, algorithm) }
            watch.add("limit4-\(name)", count: 10_000) { compressions(4 * $0) }
            watch.add("cold-\(name)", count: 10_000) { coldCodes($0, algorithm) }
        }
        watch.add("window-miss", count: 10_000) { misses($0, behind: 1, ahead: 1) }
        watch.add("resync-miss", count: 20) { misses($0, behind: 0, ahead: 1_000) }
        watch.run(rounds: 25)
        watch.report()
        // Use the result, so that the optimiser cannot remove the work.
        precondition(seen != 1, "a sum of codes is not one")
    }

    nonisolated(unsafe) static var seen: UInt64 = 0

    static func generator(_ algorithm: HashAlgorithm) -> CodeGenerator {
        CodeGenerator(key: key, algorithm: algorithm, style: .decimal(.six))
    }

    static func codes(_ count: Int, _ algorithm: HashAlgorithm) {
        let generator = generator(algorithm)
        var digits: [6 of UInt8] = .init(repeating: 0)
        var span = digits.mutableSpan
        for counter in 0..<UInt64(count) { generator.code(at: counter).write(into: &span) }
        seen &+= UInt64(span[0])
    }

    static func chainedCodes(_ count: Int, _ algorithm: HashAlgorithm) {
        let generator = generator(algorithm)
        var digits: [6 of UInt8] = .init(repeating: 0)
        var span = digits.mutableSpan
        var counter: UInt64 = 0
        for _ in 0..<count {
            generator.code(at: counter).write(into: &span)
            counter = UInt64(span[5])
        }
        seen &+= counter
    }

    static func coldCodes(_ count: Int, _ algorithm: HashAlgorithm) {
        var digits: [6 of UInt8] = .init(repeating: 0)
        var span = digits.mutableSpan
        for counter in 0..<UInt64(count) {
            CodeGenerator.code(
                at: counter, key: key, algorithm: algorithm, style: .decimal(.six)
            ).write(into: &span)
        }
        seen &+= UInt64(span[0])
    }

    static func misses(_ count: Int, behind: Int, ahead: Int) {
        let generator = generator(.sha1)
        let presented = Array("00000x".utf8)
        for around in 0..<count {
            let match = generator.match(
                presented.span, around: UInt64(around + 1), behind: behind, ahead: ahead)
            seen &+= match == nil ? 2 : 0
        }
    }
}
