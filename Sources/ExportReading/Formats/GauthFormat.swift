internal import Cryptography
internal import Interchange
internal import OneTimePassword

/// gauth's text: lines `name:base32`, or key URIs (formats.md 4.22).
enum GauthFormat {
    /// The length in bytes that at least one secret must have, because short words are Base32 too.
    private static let plausibleCount = 10

    /// Whether each line is a key URI or a name and a Base32 secret.
    static func isRecognised(_ text: Span<UInt8>) -> Bool {
        var lines = TextLines(text)
        var isPlausible = false
        var count = 0
        while let line = lines.next(in: text) {
            let content = text.extracting(line.range)
            if KeyURI.isKeyURI(content) {
                isPlausible = true
            } else {
                guard let colon = colon(of: content) else { return false }
                let length = content.extracting((colon + 1)...).base32Count
                isPlausible = isPlausible || length >= plausibleCount
            }
            // A longer list is refused anyway.
            count += 1
            if count > ExportRows.maximumCount { break }
        }
        return isPlausible
    }

    static func read(_ text: SecretBytes) throws(ExportError) -> ExportRows {
        var rows = ExportRows(.gauth)
        try text.withBytes { text throws(ExportError) in
            var lines = TextLines(text)
            while let line = lines.next(in: text) {
                let content = text.extracting(line.range)
                try rows.append { row throws(ExportRowRefusal) in try fill(&row, content) }
            }
        }
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ line: Span<UInt8>
    ) throws(ExportRowRefusal) {
        if KeyURI.isKeyURI(line) {
            row.secret = .field(SecretBytes(copying: line))
            return
        }
        guard let colon = colon(of: line) else { throw .malformed }
        row.issuer = SecretBytes(copying: line.extracting(..<colon)).decodedText() ?? ""
        row.secret = .base32(SecretBytes(copying: line.extracting((colon + 1)...)))
    }

    /// The colon before a Base32 secret.
    private static func colon(of line: Span<UInt8>) -> Int? {
        guard let colon = line.indices.last(where: { line[$0] == UInt8(ascii: ":") }) else {
            return nil
        }
        return line.extracting((colon + 1)...).isBase32 ? colon : nil
    }
}

extension Span<UInt8> {
    /// Whether it is Base32 in any form that apps write, and not empty.
    var isBase32: Bool { base32Count > 0 }

    /// The number of bytes that it encodes in any form of Base32 that apps write; 0 if it is
    /// anything else.
    fileprivate var base32Count: Int {
        SecretBytes(copying: self).decodedBase32()?.secret.count ?? 0
    }
}
