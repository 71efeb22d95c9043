public import Cryptography
public import OneTimePassword

/// A text file of key URIs and migration URIs, one in each line, as most apps can export it.
///
/// Empty lines and lines that begin with `#` are passed over. Each other line stands for itself:
/// one that is refused does not spoil the others. The text holds keys, so lines are lent and
/// nothing is copied out of them but what ``KeyURI`` and ``MigrationBatch`` keep.
public struct OTPAuthLines: Sendable {
    /// What one line was.
    public enum Content: Sendable {
        /// A key URI.
        case key(KeyURI)
        /// A part of an export of Google Authenticator.
        case migration(MigrationBatch)
        /// Something else, or something spoiled.
        case refused(OTPAuthLineError)
    }

    /// A line with something in it.
    public struct Line: Sendable {
        /// Counted from one, empty lines and comments included.
        public let number: Int
        /// What it was.
        public let content: Content
    }

    /// The lines that were read or refused, in their order.
    public let lines: [Line]

    /// Reads a whole file.
    public init(_ text: SecretBytes, reading: KeyURI.Reading = .lenient) {
        var lines: [Line] = []
        Self.read(text, reading: reading) { lines.append($0) }
        self.lines = lines
    }

    /// Reads a whole file line by line, and keeps none of them.
    ///
    /// - Throws: what `take` throws; the rest of the file is not read then.
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

    /// Leaves out spaces, tabs and carriage returns at both ends: they are the file's, not the
    /// URI's.
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

    /// Windows' editors begin a file with a mark that is no part of the text.
    private static func byteOrderMarkCount(of text: Span<UInt8>) -> Int {
        let hasMark = text.count >= 3 && text[0] == 0xef && text[1] == 0xbb && text[2] == 0xbf
        return hasMark ? 3 : 0
    }
}

/// Why a line was refused: never what stands in it.
public enum OTPAuthLineError: Error, Hashable, Sendable {
    /// It is neither a key URI nor a migration URI.
    case notAURI
    /// A key URI that is spoiled.
    case keyURI(KeyURIError)
    /// A migration URI that is spoiled.
    case migration(MigrationError)
}
