public import ProcessConfinement
public import WatchwordSystem

// A reader's answer is a verdict and its facts. Names and stages are short words.

private enum Verdict: UInt8, Transferable {
    case symbols, noSymbol, notAPicture, unsupported, damaged, encrypted, tooLarge
    case tooManySymbols, outOfMemory, libraryMissing, outOfTime
}

extension PictureLimit: Transferable {}

extension PictureFinding {
    /// The frame with this finding, or with the reason why it cannot be sent.
    func frame() throws(SystemCallFailure) -> FrameWriter {
        let frame = try FrameWriter(limit: ReaderProtocol.largestAnswer)
        switch self {
        case .symbols([], let tried):
            frame.append(Verdict.noSymbol, PictureFinding.words(tried))
        case .symbols(let symbols, let tried):
            guard symbols.count <= ReaderProtocol.maximumSymbolCount else {
                return try FrameWriter(Verdict.tooManySymbols)
            }
            frame.append(Verdict.symbols, PictureFinding.words(tried), symbols)
            do throws(SystemCallFailure) { try frame.requireWhole() } catch {
                return try FrameWriter(Verdict.tooManySymbols)
            }
        case .notAPicture: frame.append(Verdict.notAPicture)
        case .unsupported(let format):
            frame.append(Verdict.unsupported, ShortWord(showing: format))
        case .libraryMissing(let format):
            frame.append(Verdict.libraryMissing, ShortWord(showing: format.rawValue))
        case .damaged: frame.append(Verdict.damaged)
        case .encrypted: frame.append(Verdict.encrypted)
        case .tooLarge(let limit): frame.append(Verdict.tooLarge, limit)
        case .outOfMemory: frame.append(Verdict.outOfMemory)
        case .outOfTime: frame.append(Verdict.outOfTime)
        }
        return frame
    }

    private static func words(_ texts: [String]) -> [ShortWord] {
        texts.prefix(ReaderProtocol.maximumWordCount).map(ShortWord.init(showing:))
    }
}

/// The result for one image, with its symbols' bytes, which are wiped when the last reference is
/// released.
struct PictureAnswer {
    let outcome: PictureOutcome
    private let frame: WipedBuffer?
    private let symbols: [Range<Int>]

    /// An image from which nothing was read.
    init(refused refusal: PictureRefusal) {
        outcome = .refused(refusal)
        frame = nil
        symbols = []
    }

    init(parsing frame: WipedBuffer) throws(FieldReader.Unreadable) {
        (outcome, symbols) = try frame.withBytes { bytes throws(FieldReader.Unreadable) in
            var fields = FieldReader(.bigEndian)
            var symbols: [Range<Int>] = []
            let outcome = try PictureOutcome(reading: &fields, in: bytes, symbols: &symbols)
            try fields.finish(bytes)
            return (outcome, symbols)
        }
        self.frame = frame
    }

    /// Lends the bytes of each symbol.
    func forEachSymbol(_ body: (Span<UInt8>) -> Void) {
        guard let frame else { return }
        frame.withBytes { bytes in
            for symbol in symbols { body(bytes.extracting(symbol)) }
        }
    }
}

extension PictureOutcome {
    /// Reads what ``PictureFinding/frame()`` writes.
    ///
    /// - Parameter symbols: where each symbol's bytes are.
    fileprivate init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>, symbols: inout [Range<Int>]
    ) throws(FieldReader.Unreadable) {
        switch try fields.value(bytes) as Verdict {
        case .symbols:
            let tried = try fields.stages(bytes)
            symbols = try fields.list(bytes, most: ReaderProtocol.maximumSymbolCount) {
                (fields, bytes) throws(FieldReader.Unreadable) in
                try fields.string(bytes, limit: ReaderProtocol.largestAnswer)
            }
            guard !symbols.isEmpty else { throw FieldReader.Unreadable() }
            self = .symbols(symbols.count, tried: tried)
        case .noSymbol: self = .refused(.noSymbol(tried: try fields.stages(bytes)))
        case .notAPicture: self = .refused(.notAPicture)
        case .unsupported:
            self = .refused(.unsupported(format: (try fields.value(bytes) as ShortWord).text))
        case .damaged: self = .refused(.damaged)
        case .encrypted: self = .refused(.encrypted)
        case .tooLarge: self = .refused(.tooLarge(try fields.value(bytes)))
        case .tooManySymbols: self = .refused(.tooManySymbols)
        case .outOfMemory: self = .refused(.lost(.tooMuchMemory))
        case .libraryMissing:
            let name: ShortWord = try fields.value(bytes)
            guard let format = ImageFormat(rawValue: name.text), format.library != nil else {
                throw FieldReader.Unreadable()
            }
            self = .refused(.libraryMissing(format))
        case .outOfTime: self = .refused(.lost(.timedOut))
        }
    }
}

extension FieldReader {
    fileprivate mutating func stages(_ bytes: Span<UInt8>) throws(Unreadable) -> [String] {
        let words: [ShortWord] = try list(bytes, most: ReaderProtocol.maximumWordCount)
        return words.map(\.text)
    }
}

/// The outcome for one image.
public enum PictureOutcome: Hashable, Sendable {
    /// The number of symbols that were read, at least one, and the names of the stages that were
    /// tried.
    case symbols(Int, tried: [String])
    /// Nothing was read, for this reason.
    case refused(PictureRefusal)
}

/// Why nothing was read from an image.
public enum PictureRefusal: Hashable, Sendable {
    /// The image is intact, but none of the stages named found a symbol.
    case noSymbol(tried: [String])
    /// The content is not an image.
    case notAPicture
    /// The content is an image in an unsupported format.
    case unsupported(format: String)
    /// The library for the image's format is not installed.
    case libraryMissing(ImageFormat)
    /// The content is damaged.
    case damaged
    /// The content can be read only with a password.
    case encrypted
    /// The image exceeds a limit.
    case tooLarge(PictureLimit)
    /// There are too many symbols, or they are too long.
    case tooManySymbols

    /// The file is empty.
    case empty
    /// The path is a folder.
    case folder
    /// The file is a device, a terminal or a socket.
    case notAFile
    /// The file could not be opened or read.
    case unreadable(SystemCallFailure)

    /// The reader gave no valid answer.
    case lost(HelperLoss)
}

/// The limit that an image exceeds.
public enum PictureLimit: CaseIterable, Hashable, Sendable {
    case bytes, pixels, side, frames
}

// The protocol between `watchword` and `watchword-reader`. A count of bytes is little-endian, as in
// every frame.
//
// reader → watchword, once:  frame: a ``HelperGreeting``
// watchword → reader, each:  chunks: count (4 bytes), that many bytes of the image;
//                       a count of 0 ends the image, 0xffffffff drops it without an answer
// reader → watchword, each:  frame: a ``PictureFinding``
// A frame is its count of bytes (4 bytes) and the bytes. Nothing is sent unsolicited.

/// The limits that both ends observe.
enum ReaderProtocol {
    static let identity = HelperGreeting.Identity(mark: "WWR", version: 3)
    /// Bytes of an image file, 32 MiB.
    static let largestPicture = 32 << 20
    /// The maximum size of a chunk of an image, in bytes.
    static let largestChunk = 1 << 16
    /// Bytes of an answer: enough for more than 80 of the longest symbols.
    static let largestAnswer = 1 << 18
    static let maximumSymbolCount = 1_000
    static let maximumWordCount = 64
    /// Sent instead of a chunk's count: the image is dropped.
    static let dropped = UInt32.max
}
