import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@Suite("Matching in a window")
struct MatchTests {
    // RFC 4226, appendix D: this key's codes for counters 0 to 9 all differ.
    private static func generator() -> CodeGenerator {
        CodeGenerator(
            key: SecretBytes(text: "12345678901234567890"), algorithm: .sha1, style: .decimal(.six))
    }
    private let codes = [
        "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871",
        "520489",
    ]

    @Test("H-14 the matching offset is returned, up to the ends of the window and not beyond")
    func offsets() {
        for (counter, code) in codes.enumerated() {
            let offset = counter - 5
            let isInside = (-2...3).contains(offset)
            #expect(match(code, around: 5, behind: 2, ahead: 3) == (isInside ? offset : nil))
        }
    }

    @Test("a window of size zero matches one code only")
    func narrow() {
        #expect(match("254676", around: 5, behind: 0, ahead: 0) == 0)
        #expect(match("338314", around: 5, behind: 0, ahead: 0) == nil)
    }

    @Test(
        "text that is not exactly the code matches nothing",
        arguments: [
            "", "25467", "2546760", "254677", "0254676", " 254676", "254676\0", "２５４６７６",
            "254676254676254676",
        ])
    func others(presented: String) {
        #expect(match(presented, around: 5, behind: 2, ahead: 3) == nil)
    }

    @Test("moving factors below zero or above 2^64 - 1 are not searched")
    func ends() {
        #expect(match("755224", around: 0, behind: 5, ahead: 0) == 0)
        #expect(match("755224", around: 2, behind: 5, ahead: 0) == -2)
        let last = Self.generator().code(at: .max).text
        #expect(match(last, around: .max, behind: 1, ahead: 5) == 0)
        #expect(match(last, around: .max - 1, behind: 1, ahead: 5) == 1)
        // The window must not wrap around.
        #expect(match("755224", around: .max, behind: 0, ahead: 5) == nil)
    }

    @Test("the earlier of two moving factors with the same code is returned")
    func collision() throws {
        let one = CodeGenerator(
            key: SecretBytes(text: "12345678901234567890"), algorithm: .sha1,
            style: .decimal(try #require(CodeLength(digits: 1))))
        // The last digits of the codes above are 4 2 2 9 4 6 2 3 1 9.
        let two = Array("2".utf8)
        #expect(one.match(two.span, around: 3, behind: 3, ahead: 3) == -2)
        #expect(one.match(two.span, around: 3, behind: 0, ahead: 6) == 3)
    }

    @Test("Steam Guard codes and ten-digit codes also match")
    func otherStyles() throws {
        let key = SecretBytes(text: "12345678901234567890")
        for style in [CodeStyle.steam, .decimal(try #require(CodeLength(digits: 10)))] {
            let generator = CodeGenerator(key: key, algorithm: .sha256, style: style)
            let code = Array(generator.code(at: 9).text.utf8)
            #expect(generator.match(code.span, around: 5, behind: 0, ahead: 5) == 4)
            var other = code
            other[other.count - 1] ^= 1
            #expect(generator.match(other.span, around: 5, behind: 0, ahead: 5) == nil)
        }
    }

    private func match(_ presented: String, around: UInt64, behind: Int, ahead: Int) -> Int? {
        let bytes = Array(presented.utf8)
        return Self.generator().match(bytes.span, around: around, behind: behind, ahead: ahead)
    }
}
