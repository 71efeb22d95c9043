internal import Exports
internal import WatchwordSystem

/// Checks what the parser must never see, or what would make it slow, before it reads the text.
///
/// The result is correct for all well-formed XML. The parser refuses other text regardless.
struct MarkupCheck {
    private let limits: XMLLimits

    init(_ limits: XMLLimits) { self.limits = limits }

    func check(_ text: Span<UInt8>) throws(ContainerError) {
        guard text.count <= limits.bytes else {
            throw .overLimit(
                .documentSize, found: UInt64(text.count), allowed: UInt64(limits.bytes))
        }
        // The parser recognises other encodings by their first bytes, and loads converters for
        // them. A text in UTF-16 or UTF-32 contains NUL.
        guard text.firstIndex(of: 0, from: 0) == nil else { throw .notUTF8 }
        let start = text.holds("\u{FEFF}", at: 0) ? 3 : 0
        guard
            let first = text.indices.first(where: {
                $0 >= start && !MarkupCheck.isSpace(text[$0])
            }),
            text[first] == UInt8(ascii: "<")
        else { throw .damaged }
        var at = first
        while let opening = text.firstIndex(of: UInt8(ascii: "<"), from: at) {
            at = try checkMarkup(text, at: opening)
        }
    }

    /// Checks the markup at `start`, and returns the index after it.
    private func checkMarkup(_ text: Span<UInt8>, at start: Int) throws(ContainerError) -> Int {
        if text.holds("<!--", at: start) { return try end(of: "-->", in: text, from: start + 4) }
        if text.holds("<![CDATA[", at: start) {
            return try end(of: "]]>", in: text, from: start + 9)
        }
        if text.holds("<?", at: start) { return try end(of: "?>", in: text, from: start + 2) }
        if text.holds("<!", at: start) { throw .documentType }
        return try checkTag(text, at: start)
    }

    private func checkTag(_ text: Span<UInt8>, at start: Int) throws(ContainerError) -> Int {
        var count = 0
        var at = start + 1
        while at < text.count {
            switch text[at] {
            case UInt8(ascii: ">"): return at + 1
            case UInt8(ascii: "="):
                count += 1
                guard count <= limits.attributes else {
                    throw .overLimit(
                        .rows, found: UInt64(count), allowed: UInt64(limits.attributes))
                }
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let close = text.firstIndex(of: text[at], from: at + 1) else {
                    throw .damaged
                }
                at = close
            default: break
            }
            at += 1
        }
        throw .damaged
    }

    /// The index after the next `mark`.
    private func end(
        of mark: StaticString, in text: Span<UInt8>, from start: Int
    ) throws(ContainerError) -> Int {
        let mark = mark.description
        var at = start
        while let found = text.firstIndex(of: UInt8(ascii: ">"), from: at) {
            let beginning = found + 1 - mark.utf8.count
            if beginning >= start && text.holds(mark, at: beginning) { return found + 1 }
            at = found + 1
        }
        throw .damaged
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D].contains(byte)
    }
}
