public import Cryptography
public import OneTimePassword

/// A text file with one key URI or migration URI per line, as most apps can export it.
///
/// Empty lines and lines that begin with `#` are skipped. Lines are independent: one that is
/// refused does not affect the others. The text contains keys, so lines are lent, and only what
/// ``KeyURI`` and ``MigrationBatch`` keep is copied.
public struct OTPAuthLines: Sendable {
    /// The content of a line.
    public enum Content: Sendable {
        /// A key URI.
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
        /// The line's content.
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
        var start = byteOrderMarkCount(of: text)
        var number = 0
        while start < text.count {
            var end = start
            while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
            number += 1
            let line = text.extracting(trimming(text, start..<end))
            if line.count > 0, line[0] != UInt8(ascii: "#") {
                try take(Line(number: number, content: content(of: line, reading: reading)))
            }
            start = end + 1
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

    /// Removes spaces, tabs and carriage returns at both ends, which do not belong to the URI.
    private static func trimming(_ text: Span<UInt8>, _ whole: Range<Int>) -> Range<Int> {
        func isBlank(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
        }
        var range = whole
        while let first = range.first, isBlank(text[first]) {
            range = (first + 1)..<range.upperBound
        }
        while let last = range.last, isBlank(text[last]) { range = range.lowerBound..<last }
        return range
    }

    /// Some Windows editors begin a file with a byte order mark.
    private static func byteOrderMarkCount(of text: Span<UInt8>) -> Int {
        let hasMark = text.count >= 3 && text[0] == 0xef && text[1] == 0xbb && text[2] == 0xbf
        return hasMark ? 3 : 0
    }
}

/// Why a line was refused.
///
/// It never reveals the line's content.
public enum OTPAuthLineError: Error, Hashable, Sendable {
    /// It is neither a key URI nor a migration URI.
    case notAURI
    /// An invalid key URI.
    case keyURI(KeyURIError)
    /// An invalid migration URI.
    case migration(MigrationError)
}
