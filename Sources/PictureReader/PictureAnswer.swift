internal import POSIX

/// What is known about a picture in the end, with its symbols' bytes, which are wiped with the last owner.
struct PictureAnswer {
    let outcome: PictureOutcome
    private let frame: WipedBuffer?
    private let symbols: [Range<Int>]

    /// A picture of which nothing was read.
    init(refused refusal: PictureRefusal) {
        outcome = .refused(refusal)
        frame = nil
        symbols = []
    }

    /// What a reader answered; nothing when that breaks the rules.
    init?(parsing frame: WipedBuffer) {
        guard let answer = frame.withBytes({ Answer(parsing: $0) }) else { return nil }
        outcome = answer.outcome
        symbols = answer.symbols
        self.frame = frame
    }

    /// Lends the bytes of each symbol.
    func forEachSymbol(_ body: (Span<UInt8>) -> Void) {
        frame?.withBytes { bytes in
            for symbol in symbols { body(bytes.extracting(symbol)) }
        }
    }
}
