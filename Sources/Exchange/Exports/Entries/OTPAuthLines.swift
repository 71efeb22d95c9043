public import OneTimePassword
public import WatchwordCryptography

/// A text file with one key URI or migration URI per line, as most apps can export it.
///
/// Empty lines and lines that begin with `#` are skipped. Lines are independent: a refused line
/// does not affect other lines. The text contains keys, so lines are lent, and only what ``KeyURI``
/// and ``MigrationBatch`` keep is copied.
public struct OTPAuthLines: Sendable {
    /// The content of a line.
    public enum Content: Sendable {
        /// A valid key URI.
        case key(KeyURI)
        /// A part of a Google Authenticator export.
        case migration(MigrationBatch)
        /// A line that could not be read.
        case refused(OTPAuthLineError)
    }

    /// A line that is not empty.
    public struct Line: Sendable {
        /// The line number, counted from one, including empty lines and comments.
        public let number: Int
        /// The URI in the line, or why the line was refused.
        public let content: Content
    }

    /// The lines that were read or refused, in order.
    public let lines: [Line]

    /// Reads a whole file.
    public init(_ text: SecretBytes, reading: KeyURI.Reading = .lenient) {
        var lines: [Line] = []
        Self.read(text, reading: reading) { lines.append($0) }
        self.lines = lines
    }

    /// Reads a whole file line by line without keeping the lines.
    ///
    /// - Throws: what `take` throws; in that case, the rest of the file is not read.
    public static func read<Failure: Error>(
        _ text: SecretBytes, reading: KeyURI.Reading = .lenient,
        _ take: (Line) throws(Failure) -> Void
    ) throws(Failure) {
        try text.withBytes { (text) throws(Failure) in
            try eachLine(of: text, reading: reading, take)
        }
    }

    private static func eachLine<Failure: Error>(
        of text: Span<UInt8>, reading: KeyURI.Reading, _ take: (Line) throws(Failure) -> Void
    ) throws(Failure) {
        var lines = TextLines(text)
        while let line = lines.next(in: text) {
            let content = text.extracting(line.range)
            guard content[0] != UInt8(ascii: "#") else { continue }
            try take(
                Line(number: line.number, content: Self.content(of: content, reading: reading)))
        }
    }

    private static func content(of line: Span<UInt8>, reading: KeyURI.Reading) -> Content {
        if MigrationBatch.isMigrationURI(line) {
            do { return .migration(try MigrationBatch(parsing: line)) } catch {
                return .refused(.migration(error))
            }
        }
        guard KeyURI.isKeyURI(line) else { return .refused(.notAURI) }
        do { return .key(try KeyURI(parsing: line, reading: reading)) } catch {
            return .refused(.keyURI(error))
        }
    }
}

/// Why a line was refused.
///
/// It never reveals the line's content.
public enum OTPAuthLineError: Hashable, Sendable {
    /// The line is neither a key URI nor a migration URI.
    case notAURI
    /// An invalid key URI.
    case keyURI(OneTimePasswordError)
    /// An invalid migration URI.
    case migration(MigrationError)
}

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
