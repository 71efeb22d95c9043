internal import ProcessConfinement
internal import WatchwordSystem

/// A reader's answer about a picture, as encoded in a frame.
///
/// A byte for the verdict; a count of words (1 byte) and the words, each with its count (1 byte); a
/// count of symbols (2 bytes) and the symbols, each with its count (4 bytes).
struct Answer: Hashable {
    /// The result of reading the picture.
    let outcome: PictureOutcome
    /// Where in the frame each symbol's bytes are.
    let symbols: [Range<Int>]

    private enum Verdict: UInt8 {
        case symbols, noSymbol, notAPicture, unsupported, damaged
        case tooManyBytes, tooManyPixels, sideTooLong, tooManyFrames
        case tooManySymbols, outOfMemory, libraryMissing, outOfTime, encrypted
    }

    /// Parses a frame; `nil` if any byte breaks the protocol.
    init?(parsing bytes: Span<UInt8>) {
        do { try self.init(reading: bytes) } catch { return nil }
    }

    private init(reading bytes: Span<UInt8>) throws(FieldReader.Unreadable) {
        var fields = FieldReader(.littleEndian)
        guard let verdict = Verdict(rawValue: try fields.byte(bytes)) else {
            throw FieldReader.Unreadable()
        }
        let words = try Answer.words(&fields, bytes)
        let symbols = try Answer.symbols(&fields, bytes)
        try fields.finish(bytes)
        let wordCounts =
            switch verdict {
            case .symbols, .noSymbol: 0...ReaderProtocol.maximumWordCount
            case .unsupported, .libraryMissing: 1...1
            default: 0...0
            }
        guard symbols.isEmpty == (verdict != .symbols), wordCounts.contains(words.count) else {
            throw FieldReader.Unreadable()
        }
        self.symbols = symbols
        outcome = try Answer.outcome(verdict, words: words, symbolCount: symbols.count)
    }

    /// The frame that reports `finding`.
    static func bytes(for finding: PictureFinding) -> [UInt8] {
        switch finding {
        case .symbols([], let tried): encode(.noSymbol, words: tried)
        case .symbols(let symbols, let tried): encode(symbols, tried: tried)
        case .notAPicture: encode(.notAPicture)
        case .unsupported(let format): encode(.unsupported, words: [format])
        case .libraryMissing(let format): encode(.libraryMissing, words: [format.rawValue])
        case .damaged: encode(.damaged)
        case .encrypted: encode(.encrypted)
        case .tooLarge(.bytes): encode(.tooManyBytes)
        case .tooLarge(.pixels): encode(.tooManyPixels)
        case .tooLarge(.side): encode(.sideTooLong)
        case .tooLarge(.frames): encode(.tooManyFrames)
        case .outOfMemory: encode(.outOfMemory)
        case .outOfTime: encode(.outOfTime)
        }
    }

    private static func encode(_ symbols: [[UInt8]], tried: [String]) -> [UInt8] {
        guard symbols.count <= ReaderProtocol.maximumSymbolCount else {
            return encode(.tooManySymbols)
        }
        let bytes = encode(.symbols, words: tried, symbols: symbols)
        return bytes.count <= ReaderProtocol.largestAnswer ? bytes : encode(.tooManySymbols)
    }

    private static func encode(
        _ verdict: Verdict, words: [String] = [], symbols: [[UInt8]] = []
    ) -> [UInt8] {
        var bytes = [verdict.rawValue]
        let words = words.prefix(ReaderProtocol.maximumWordCount).map(ShortWord.bytes)
        bytes.append(UInt8(words.count))
        for word in words { bytes += [UInt8(word.count)] + word }
        bytes += UInt32(symbols.count).littleEndianBytes.prefix(2)
        for symbol in symbols { bytes += UInt32(symbol.count).littleEndianBytes + symbol }
        return bytes
    }

    private static func words(
        _ fields: inout FieldReader, _ bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) -> [String] {
        let count = try fields.byte(bytes)
        guard count <= ReaderProtocol.maximumWordCount else { throw FieldReader.Unreadable() }
        var words: [String] = []
        for _ in 0..<count { words.append(try fields.word(bytes)) }
        return words
    }

    private static func symbols(
        _ fields: inout FieldReader, _ bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) -> [Range<Int>] {
        let count = try fields.number(bytes, width: 2)
        guard count <= ReaderProtocol.maximumSymbolCount else { throw FieldReader.Unreadable() }
        var symbols: [Range<Int>] = []
        for _ in 0..<count { symbols.append(try fields.string(bytes, limit: .max)) }
        return symbols
    }

    private static func outcome(
        _ verdict: Verdict, words: [String], symbolCount: Int
    ) throws(FieldReader.Unreadable) -> PictureOutcome {
        switch verdict {
        case .symbols: return .symbols(symbolCount, tried: words)
        case .noSymbol: return .refused(.noSymbol(tried: words))
        case .notAPicture: return .refused(.notAPicture)
        case .unsupported: return .refused(.unsupported(format: words[0]))
        case .damaged: return .refused(.damaged)
        case .encrypted: return .refused(.encrypted)
        case .tooManyBytes: return .refused(.tooLarge(.bytes))
        case .tooManyPixels: return .refused(.tooLarge(.pixels))
        case .sideTooLong: return .refused(.tooLarge(.side))
        case .tooManyFrames: return .refused(.tooLarge(.frames))
        case .tooManySymbols: return .refused(.tooManySymbols)
        case .outOfMemory: return .refused(.lost(.tooMuchMemory))
        case .libraryMissing:
            guard let format = ImageFormat(rawValue: words[0]), format.library != nil else {
                throw FieldReader.Unreadable()
            }
            return .refused(.libraryMissing(format))
        case .outOfTime: return .refused(.lost(.timedOut))
        }
    }
}
