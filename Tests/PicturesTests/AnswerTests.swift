import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

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
        let answer = try #require(parse(try bytes(of: finding)))
        if case .symbols(let symbols, let tried) = finding, !symbols.isEmpty {
            #expect(answer.outcome == .symbols(symbols.count, tried: tried))
            #expect(self.symbols(in: answer) == symbols)
        } else {
            #expect(symbols(in: answer).isEmpty)
        }
    }

    @Test("a truncated answer and one with trailing bytes are rejected", arguments: findings)
    func wrongLength(finding: PictureFinding) throws {
        let bytes = try bytes(of: finding)
        for count in 1..<bytes.count {
            #expect(parse(Array(bytes.prefix(count))) == nil)
        }
        #expect(parse(bytes + [0]) == nil)
    }

    @Test("a corrupt answer is rejected, or its symbols lie within its bytes", arguments: findings)
    func spoiled(finding: PictureFinding) throws {
        let sound = try bytes(of: finding)
        for index in sound.indices {
            for value in [0, 1, 2, 3, 127, 128, 254, 255] as [UInt8] {
                var bytes = sound
                bytes[index] = value
                guard let answer = parse(bytes) else { continue }
                #expect(symbols(in: answer).reduce(0) { $0 + $1.count } <= bytes.count)
            }
        }
    }

    private func bytes(of finding: PictureFinding) throws -> [UInt8] {
        try finding.frame().withContent { [UInt8](copying: $0) }
    }

    private func parse(_ bytes: [UInt8]) -> PictureAnswer? {
        do {
            let frame = try WipedBuffer(capacity: bytes.count)
            frame.append(bytes)
            return try PictureAnswer(parsing: frame)
        } catch { return nil }
    }

    private func symbols(in answer: PictureAnswer) -> [[UInt8]] {
        var symbols: [[UInt8]] = []
        answer.forEachSymbol { symbols.append([UInt8](copying: $0)) }
        return symbols
    }
}
