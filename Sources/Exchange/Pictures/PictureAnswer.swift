internal import WatchwordSystem

/// The result for one picture, with its symbols' bytes, which are wiped when the last reference is
/// released.
struct PictureAnswer {
    let outcome: PictureOutcome
    private let frame: WipedBuffer?
    private let symbols: [Range<Int>]

    /// A picture from which nothing was read.
    init(refused refusal: PictureRefusal) {
        outcome = .refused(refusal)
        frame = nil
        symbols = []
    }

    /// Parses a reader's answer; `nil` if it breaks the protocol.
    init?(parsing frame: WipedBuffer) {
        guard let answer = frame.withBytes({ Answer(parsing: $0) }) else { return nil }
        outcome = answer.outcome
        symbols = answer.symbols
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
