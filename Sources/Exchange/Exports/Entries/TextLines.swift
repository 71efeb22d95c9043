internal import OneTimePassword

/// The lines of a text that may be secret, as positions.
///
/// Lines end with LF, CRLF or CR. A UTF-8 byte order mark at the beginning, and spaces, tabs and
/// line ends around a line, do not belong to it.
package struct TextLines {
    /// A line that is not empty.
    package struct Line {
        /// The line number, counted from one, including empty lines.
        package let number: Int
        /// The position of the line.
        package let range: Range<Int>
    }

    private var start: Int
    private var number = 0

    package init(_ text: Span<UInt8>) { start = Self.byteOrderMarkCount(of: text) }

    /// The next line of `text`, which must be the same at every call.
    package mutating func next(in text: Span<UInt8>) -> Line? {
        while start < text.count {
            var end = start
            while end < text.count, text[end] != 0x0A, text[end] != 0x0D { end += 1 }
            let line = text.extracting(start..<end).rangeWithoutSpaces
            let range = (start + line.lowerBound)..<(start + line.upperBound)
            number += 1
            let isPair = end + 1 < text.count && text[end] == 0x0D && text[end + 1] == 0x0A
            start = end + (isPair ? 2 : 1)
            if !range.isEmpty { return Line(number: number, range: range) }
        }
        return nil
    }

    /// The length of a byte order mark, with which Windows editors begin a file.
    package static func byteOrderMarkCount(of text: Span<UInt8>) -> Int {
        let hasMark = text.count >= 3 && text[0] == 0xef && text[1] == 0xbb && text[2] == 0xbf
        return hasMark ? 3 : 0
    }
}
