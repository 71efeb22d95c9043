internal import WatchwordCryptography
internal import WatchwordSystem

/// Reads the lines of a vault file and the words of a line, without creating strings.
///
/// Lines end with a line feed; words are separated by exactly one space. A carriage return, a tab,
/// or a duplicate or trailing space becomes part of a word that is then rejected.
struct LineReader {
    let bytes: [UInt8]
    /// The number of the current line, from 1.
    private(set) var number = 0
    /// The offset of the first byte of the line.
    private(set) var start = 0
    /// The offset of the line feed at the end of the line.
    private(set) var end = 0
    /// The offset of the next word.
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Moves to the next line.
    mutating func next() throws(VaultError) {
        start = number == 0 ? 0 : end + 1
        number += 1
        position = start
        end = Self.find(Self.lineFeed, in: bytes.span, from: start)
        guard end < bytes.count else { throw .truncated }
    }

    /// Whether the line starts with `word` and a space.
    func isLine(_ word: String) -> Bool {
        Self.holds(bytes.span, word, at: start, before: end)
    }

    /// Reads `word` and the space after it.
    mutating func skip(_ word: String) throws(VaultError) {
        guard Self.holds(bytes.span, word, at: position, before: end) else { throw damaged }
        position += word.utf8.count + 1
    }

    /// Reads the next word; the last word of a line must be read by ``lastWord()``.
    mutating func word() throws(VaultError) -> Range<Int> {
        let word = nextWord()
        guard !word.isEmpty, word.upperBound < end else { throw damaged }
        position = word.upperBound + 1
        return word
    }

    /// Reads the line's last word.
    mutating func lastWord() throws(VaultError) -> Range<Int> {
        let word = nextWord()
        guard !word.isEmpty, word.upperBound == end else { throw damaged }
        position = end
        return word
    }

    /// Reads everything before the line's last word: at least one character, possibly with spaces.
    mutating func wordsBeforeLast() throws(VaultError) -> Range<Int> {
        guard let space = bytes[position..<end].lastIndex(of: UInt8(ascii: " ")), space > position
        else { throw damaged }
        defer { position = space + 1 }
        return position..<space
    }

    /// Reads the next word, which must be one of two; returns whether it is the first.
    mutating func choice(_ first: String, _ second: String) throws(VaultError) -> Bool {
        let word = try word()
        if isWord(word, first) { return true }
        guard isWord(word, second) else { throw damaged }
        return false
    }

    /// Reads the next word as a number.
    mutating func count() throws(VaultError) -> UInt64 { try number(in: word()) }

    /// Reads the line's last word as a number.
    mutating func lastCount() throws(VaultError) -> UInt64 { try number(in: lastWord()) }

    /// Parses a number: decimal, no sign, no leading zero, below 2^63.
    func number(in word: Range<Int>) throws(VaultError) -> UInt64 {
        guard word.count <= 19, word.count == 1 || bytes[word.lowerBound] != UInt8(ascii: "0")
        else { throw damaged }
        var value: UInt64 = 0
        for index in word {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else {
                throw damaged
            }
            // Numbers of up to nineteen digits fit in 64 bits.
            value = value * 10 + UInt64(bytes[index] - UInt8(ascii: "0"))
        }
        guard value <= VaultLimits.number else { throw damaged }
        return value
    }

    /// Whether the word is `expected`.
    func isWord(_ word: Range<Int>, _ expected: String) -> Bool {
        word.count == expected.utf8.count
            && bytes.span.holds(expected, at: word.lowerBound)
    }

    /// Whether the bytes of two words are equal.
    func areEqual(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        bytes[left].elementsEqual(bytes[right])
    }

    /// The error for a line that does not follow the format.
    var damaged: VaultError { .damaged(.line(number)) }

    private func nextWord() -> Range<Int> {
        position..<min(end, Self.find(UInt8(ascii: " "), in: bytes.span, from: position))
    }

    private static func find(_ byte: UInt8, in span: Span<UInt8>, from start: Int) -> Int {
        span.firstIndex(of: byte, from: start) ?? span.count
    }

    static let lineFeed = UInt8(ascii: "\n")

    private static func holds(
        _ span: Span<UInt8>, _ word: String, at start: Int, before end: Int
    ) -> Bool {
        let after = start + word.utf8.count
        return after < end && span[after] == UInt8(ascii: " ") && span.holds(word, at: start)
    }
}

extension LineReader {
    /// Decodes a Base64 word that encodes `count` bytes.
    func base64(in word: Range<Int>, count: Int) throws(VaultError) -> [UInt8] {
        guard word.count == Base64.encodedCount(of: count) else { throw damaged }
        let data = try base64(in: word)
        guard data.count == count else { throw damaged }
        return data
    }

    /// Decodes a Base64 word that encodes 1 to `limit` bytes.
    func base64(in word: Range<Int>, atMost limit: Int) throws(VaultError) -> [UInt8] {
        guard word.count <= Base64.encodedCount(of: limit) else { throw damaged }
        let data = try base64(in: word)
        guard (1...limit).contains(data.count) else { throw damaged }
        return data
    }

    /// Decodes a Base64 word; only the canonical encoding is accepted.
    func base64(in word: Range<Int>) throws(VaultError) -> [UInt8] {
        try replacingErrors(of: Base64.decode(bytes.span.extracting(word)), with: damaged)
    }
}

/// Builds the lines of a vault file.
struct VaultText {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func write(_ text: some Sequence<UInt8>) { bytes.append(contentsOf: text) }

    mutating func writeBase64(_ data: [UInt8]) {
        bytes.append(contentsOf: Base64.encode(data.span))
    }

    mutating func endLine() { bytes.append(LineReader.lineFeed) }
}

/// Lines of the file that serve as associated data.
enum VaultLines {
    static func vault(_ id: [UInt8]) -> [UInt8] {
        var text = VaultText()
        text.write("vault ")
        text.writeBase64(id)
        text.endLine()
        return text.bytes
    }

    static func mac(_ mac: [UInt8]) -> [UInt8] {
        var text = VaultText()
        text.write("mac ")
        text.writeBase64(mac)
        text.endLine()
        return text.bytes
    }
}

extension VaultDocument {
    var macLine: [UInt8] { VaultLines.mac(mac) }
}
