internal import WatchwordCryptography
internal import WatchwordSystem

/// Writes the fields of an ``ExportAnswer``.
struct AnswerWriter {
    private(set) var bytes: [UInt8]

    init(first: UInt8) { bytes = [first] }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Appends a count or a position.
    mutating func append(count: Int) {
        bytes += UInt32(clamping: count).littleEndianBytes
    }

    /// Appends the lowest `width` bytes of `number`, lowest first.
    mutating func append(_ number: UInt64, width: Int) {
        for index in 0..<width { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    mutating func append(_ text: String) {
        append(count: text.utf8.count)
        bytes += text.utf8
    }

    mutating func append(_ secret: SecretBytes) {
        append(count: secret.count)
        secret.withBytes { bytes += [UInt8](copying: $0) }
    }

    mutating func append(_ isTrue: Bool) { append(isTrue ? 1 as UInt8 : 0) }

    /// Appends whether there is a value, and the value.
    mutating func append(optional byte: UInt8?) {
        append(byte != nil)
        if let byte { append(byte) }
    }

    /// Appends the position of `value` among all values of its type.
    mutating func append<Choice: CaseIterable & Equatable>(choice value: Choice) {
        let position = Choice.allCases.enumerated().first { $0.element == value }?.offset
        append(UInt8(clamping: position ?? Int(UInt8.max)))
    }
}

// The fields of an ``ExportAnswer``.
extension FieldReader {
    mutating func optionalChoice<Choice: RawRepresentable>(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> Choice? where Choice.RawValue == UInt8 {
        try flag(bytes) ? try choice(bytes) : nil
    }

    /// Reads a secret of at most `limit` bytes.
    mutating func secret(
        _ bytes: Span<UInt8>, limit: Int
    ) throws(Unreadable) -> SecretBytes {
        SecretBytes(copying: bytes.extracting(try string(bytes, limit: limit)))
    }

    mutating func text(_ bytes: Span<UInt8>) throws(Unreadable) -> String {
        try text(bytes, limit: ExportProtocol.longestText)
    }
}
