internal import Exports
internal import WatchwordCryptography

/// Reads comma-separated values (RFC 4180) row by row.
///
/// Line ends are LF, CRLF or CR; empty rows are left out. A quotation mark in the middle of a cell
/// that does not begin with one is read literally.
struct CSVRows {
    /// The maximum number of cells in a row.
    private static let maximumCellCount = 1_000
    private static let damaged = ExportError.damaged(.passwordManagerCSV)

    private var position: Int

    init(_ text: Span<UInt8>) { position = TextLines.byteOrderMarkCount(of: text) }

    /// The next row of `text`, which must be the same at every call; `nil` after the last one.
    ///
    /// - Throws: ``ExportError/damaged(_:)`` if a quoted cell has no end, something other than a
    ///   separator follows it, or a row has too many cells.
    mutating func next(in text: Span<UInt8>) throws(ExportError) -> [SecretBytes]? {
        while position < text.count {
            var cells: [SecretBytes] = []
            var isRowEnd = false
            while !isRowEnd {
                guard cells.count < Self.maximumCellCount else { throw Self.damaged }
                cells.append(try cell(in: text))
                isRowEnd = endCell(in: text)
            }
            if cells.count > 1 || cells.contains(where: { $0.count > 0 }) { return cells }
        }
        return nil
    }

    private mutating func cell(in text: Span<UInt8>) throws(ExportError) -> SecretBytes {
        let start = position
        guard position < text.count, text[position] == UInt8(ascii: "\"") else {
            while position < text.count, !Self.endsCell(text[position]) { position += 1 }
            return SecretBytes(copying: text.extracting(start..<position))
        }
        position += 1
        while true {
            guard position < text.count else { throw Self.damaged }
            guard text[position] == UInt8(ascii: "\"") else {
                position += 1
                continue
            }
            let isDouble = position + 1 < text.count && text[position + 1] == UInt8(ascii: "\"")
            guard isDouble else { break }
            position += 2
        }
        let content = text.extracting((start + 1)..<position)
        position += 1
        guard position == text.count || Self.endsCell(text[position]) else { throw Self.damaged }
        return SecretBytes(capacity: content.count) { output in
            var index = 0
            while index < content.count {
                output.append(content[index])
                index += content[index] == UInt8(ascii: "\"") ? 2 : 1
            }
        }
    }

    /// Skips the separator after a cell.
    ///
    /// - Returns: whether the row ends there.
    private mutating func endCell(in text: Span<UInt8>) -> Bool {
        guard position < text.count else { return true }
        let isComma = text[position] == UInt8(ascii: ",")
        let isPair =
            text[position] == 0x0D && position + 1 < text.count && text[position + 1] == 0x0A
        position += isPair ? 2 : 1
        return !isComma
    }

    private static func endsCell(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == 0x0A || byte == 0x0D
    }
}
