import TestSupport
import Testing

@testable import OneTimePassword

struct DigitsVector: Codable, Sendable {
    let number: UInt32
    let codes: [String]
}

@Suite("Characters of a code")
struct CodeTests {
    @Test(
        "a code consists of the last digits of a number, with leading zeros",
        arguments: try VectorFile<DigitsVector>("otp/digits.json").cases)
    func digits(vector: DigitsVector) throws {
        for (index, expected) in vector.codes.enumerated() {
            let length = try #require(CodeLength(digits: index + 1))
            #expect(CodeStyle.decimal(length).code(from: vector.number).text == expected)
        }
    }

    @Test("codes of every length agree with plain division for numbers of every size")
    func division() throws {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<20_000 {
            let number = UInt32(truncatingIfNeeded: generator.number()) & 0x7fff_ffff
            for digits in 1...10 {
                let code = CodeStyle.decimal(try #require(CodeLength(digits: digits))).code(
                    from: number)
                var left = number
                var expected: [UInt8] = []
                for _ in 0..<digits {
                    expected.insert(UInt8(ascii: "0") + UInt8(left % 10), at: 0)
                    left /= 10
                }
                #expect(Array(code.text.utf8) == expected)
            }
        }
    }

    @Test("characters are written in place, and nothing after them changes")
    func writing() throws {
        let code = CodeStyle.decimal(.eight).code(from: 1_234_567)
        var buffer = [UInt8](repeating: 0xff, count: 10)
        var span = buffer.mutableSpan
        let count = code.write(into: &span)
        #expect(count == 8)
        #expect(buffer == Array("01234567".utf8) + [0xff, 0xff])
        let appended = [UInt8](capacity: 8) { code.write(into: &$0) }
        #expect(appended == Array("01234567".utf8))
    }

    @Test("two codes are equal if all their characters are")
    func equality() {
        let code = CodeStyle.decimal(.six).code(from: 123)
        #expect(code == CodeStyle.decimal(.six).code(from: 9_000_123))
        #expect(!(code == CodeStyle.decimal(.six).code(from: 124)))
        #expect(!(code == CodeStyle.decimal(.eight).code(from: 123)))
    }
}
