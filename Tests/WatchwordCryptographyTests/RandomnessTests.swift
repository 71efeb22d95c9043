import Foundation
import TestSupport
import Testing
import WatchwordCryptography

struct RandomnessTests {
    @Test(
        "H-18 N-30 in random values, every bit varies and no two bytes always match",
        arguments: [16, 20, 32, 64])
    func variation(count: Int) throws {
        let kinds: [() throws -> [UInt8]] = [
            { Randomness.bytes(count: count) }, { Randomness.secret(count: count).known },
        ]
        for make in kinds {
            let variation = BitVariation(try (0..<BitVariation.valueCount).map { _ in try make() })
            #expect(variation.constantBytes == [])
            #expect(variation.repeatedBytes == [])
        }
    }

    @Test("H-18 a million keys are distinct")
    func distinct() {
        // 64 of 160 bits are kept. The probability of a collision is 3 in 10^8; with 32 bits, about
        // a hundred collisions would be expected.
        var kept: [UInt64] = []
        kept.reserveCapacity(1_000_000)
        for _ in 0..<1_000_000 {
            let key = Randomness.secret(count: 20)
            // Rotating and multiplying make each byte affect the bits that are kept.
            kept.append(
                key.withBytes { bytes in
                    bytes.indices.reduce(0) { kept, index in
                        (kept << 7 | kept >> 57) &* 0x9E37_79B1 ^ UInt64(bytes[index])
                    }
                })
        }
        kept.sort()
        #expect(zip(kept, kept.dropFirst()).allSatisfy { $0 != $1 })
    }

    /// Ways to generate random values that bypass ``Randomness``.
    private static let others = [
        "SystemRandomNumberGenerator", ".random(", ".randomElement", ".shuffle", "UUID(",
        "arc4random", "getrandom(", "/dev/urandom", "/dev/random", "RAND_", "drand48", "srand",
        " rand(", "(rand(",
    ]

    /// Lines that are allowed, each with its reason.
    private static let allowed = [
        // The wrapper of OpenSSL's generator.
        "let done = unsafe RAND_bytes(&bytes, Int32(count))",
        "let done = unsafe RAND_priv_bytes(bytes.baseAddress, Int32(count))",
        "(.random, { RAND_status() == 1 }),",
        // The random delay before two writers that collided try again.
        "let chosen = delay * Double.random(in: 0.5...1)",
        "if delay > .zero { pause.wait(timeout: delay * Double.random(in: 0.5...1)) }",
        // Which of the sites with the most open challenges loses one.
        "guard open.count < most, let victim = state.levels[most].randomElement() else {",
        // An identifier that nothing else refers to.
        "let words = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)]",
        // This function calls `Randomness`.
        "let nonce = RotationNonce.random()",
    ]

    /// The lines of a file that generate random values in a forbidden way.
    private static func offending(_ text: String) -> [String] {
        let found = others.filter { text.contains($0) }
        guard !found.isEmpty else { return [] }
        return text.split(separator: "\n").map { String($0.drop { $0 == " " }) }.filter { code in
            !code.hasPrefix("//") && !allowed.contains(code) && found.contains { code.contains($0) }
        }
    }

    @Test("H-18 V-11 N-17 N-30 the source code gets random values only through one wrapper")
    func oneWrapper() throws {
        let sources = PackageFolder.root.appending(path: "Sources")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        var count = 0
        while let file = files?.nextObject() as? URL {
            guard ["swift", "c", "h"].contains(file.pathExtension) else { continue }
            count += 1
            let offending = Self.offending(try String(contentsOf: file, encoding: .utf8))
            #expect(offending == [], "\(file.lastPathComponent)")
        }
        #expect(count > 300)
    }

    @Test("the search of the source code finds each known way to bypass the randomness wrapper")
    func searching() {
        for name in Self.others {
            #expect(Self.offending("a\n    b =\(name)x\n") == ["b =\(name)x"])
        }
        #expect(Self.offending("    let made = Randomness.bytes(count: 16)\n") == [])
    }
}
