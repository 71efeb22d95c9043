import AllocationCounter
import TestSupport
import Testing

@testable import OneTimePassword
@testable import WatchwordCryptography

@Suite(
    "Heap allocations",
    .enabled(if: allocations_are_counted(), "a sanitizer's allocator is not counted"))
struct AllocationTests {
    // Loops here count manually: a range's iterator allocates memory in a debug build.
    private let key = SecretBytes(text: "12345678901234567890")

    @Test("a prepared key needs no heap allocation for a code", arguments: HashAlgorithm.allCases)
    func prepared(algorithm: HashAlgorithm) throws {
        for style in [
            CodeStyle.decimal(.six), .decimal(try #require(CodeLength(digits: 10))), .steam,
        ] {
            let generator = CodeGenerator(key: key, algorithm: algorithm, style: style)
            let presented = generator.code(at: 1_000).text.utf8.map { $0 }
            var digits: [10 of UInt8] = .init(repeating: 0)
            var span = digits.mutableSpan
            let count = allocations {
                var counter: UInt64 = 0
                while counter < 1_000 {
                    generator.code(at: counter).write(into: &span)
                    counter += 1
                }
                let match = generator.match(presented.span, around: 990, behind: 20, ahead: 20)
                span[0] = match == 10 ? 1 : 0
            }
            #expect(count == 0)
            #expect(span[0] == 1)
        }
    }

    @Test("a key that is used once is not copied to the heap", arguments: HashAlgorithm.allCases)
    func cold(algorithm: HashAlgorithm) {
        var sum: UInt64 = 0
        let count = allocations {
            var counter: UInt64 = 0
            while counter < 1_000 {
                let code = CodeGenerator.code(
                    at: counter, key: key, algorithm: algorithm, style: .decimal(.six))
                sum &+= code.first
                counter += 1
            }
        }
        #expect(count == 0)
        #expect(sum != 0)
    }

    @Test("the allocation counter includes allocations by arrays and by OpenSSL's EVP contexts")
    func counts() {
        var kept: [[UInt8]] = []
        kept.reserveCapacity(20)
        let arrays = allocations {
            for index in 0..<10 { kept.append([UInt8](repeating: UInt8(index), count: 100)) }
        }
        #expect(arrays >= 10)
        #expect(kept.count == 20)
        let enveloped = PreparedKey(key, algorithm: .sha1, isEnveloped: true)
        var sum: UInt32 = 0
        let contexts = allocations {
            for counter in 0..<UInt64(10) { sum ^= enveloped.truncatedCode(of: counter) }
        }
        #expect(contexts >= 20)
    }

    /// The number of heap allocations in the second of two runs.
    ///
    /// The first run makes the one-time allocations.
    private func allocations(_ work: () -> Void) -> UInt {
        work()
        let before = allocations_of_this_thread()
        work()
        return allocations_of_this_thread() - before
    }
}
