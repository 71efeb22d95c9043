import TestSupport
import Testing

@testable import Pictures

@Suite struct AnswerTests {
    private static let findings: [PictureFinding] = [
        .symbols([], tried: ["one", "two"]),
        .symbols([Array("otpauth://".utf8), [], [0, 255]], tried: ["one"]),
        .notAPicture, .unsupported(format: "JPEG XL"), .damaged, .encrypted, .outOfMemory,
        .outOfTime,
        .libraryMissing(.gif), .libraryMissing(.pdf),
        .tooLarge(.bytes), .tooLarge(.pixels), .tooLarge(.side), .tooLarge(.frames),
    ]

    @Test("an encoded answer is decoded unchanged", arguments: findings)
    func roundTrip(finding: PictureFinding) throws {
        let bytes = Answer.bytes(for: finding)
        let answer = try #require(parse(bytes))
        if case .symbols(let symbols, let tried) = finding, !symbols.isEmpty {
            #expect(answer.outcome == .symbols(symbols.count, tried: tried))
            #expect(answer.symbols.map { Array(bytes[$0]) } == symbols)
        } else {
            #expect(answer.symbols.isEmpty)
        }
    }

    @Test("a truncated answer and one with trailing bytes are rejected", arguments: findings)
    func wrongLength(finding: PictureFinding) {
        let bytes = Answer.bytes(for: finding)
        for count in 0..<bytes.count {
            #expect(parse(Array(bytes.prefix(count))) == nil)
        }
        #expect(parse(bytes + [0]) == nil)
    }

    @Test("a corrupt answer is rejected, or its symbols lie within its bytes", arguments: findings)
    func spoiled(finding: PictureFinding) {
        let sound = Answer.bytes(for: finding)
        for index in sound.indices {
            for value in [0, 1, 2, 3, 127, 128, 254, 255] as [UInt8] {
                var bytes = sound
                bytes[index] = value
                guard let answer = parse(bytes) else { continue }
                #expect(answer.symbols.allSatisfy { 0...bytes.count ~= $0.upperBound })
            }
        }
    }

    private func parse(_ bytes: [UInt8]) -> Answer? { Answer(parsing: bytes.span) }
}
