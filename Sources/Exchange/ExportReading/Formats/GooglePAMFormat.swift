internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// google-authenticator's PAM file, `~/.google_authenticator`.
enum GooglePAMFormat {
    /// The maximum length of the file in bytes, which is also the PAM module's.
    static let maximumCount = 64 << 10

    /// Whether the first line is a Base32 secret and the second an option.
    static func isRecognised(_ text: Span<UInt8>) -> Bool {
        guard text.count <= maximumCount else { return false }
        var lines = TextLines(text)
        guard let first = lines.next(in: text), let second = lines.next(in: text) else {
            return false
        }
        return corrected(text.extracting(first.range)).withBytes { $0.isBase32 }
            && text.extracting(second.range).hasPrefixIgnoringCase("\" ")
    }

    static func read(_ text: SecretBytes) throws(ExportError) -> ExportRows {
        var rows = ExportRows(.googlePAM)
        var emergencyCodeCount = 0
        try rows.append { row throws(ExportRowRefusal) in
            try text.withBytes { text throws(ExportRowRefusal) in
                try fill(&row, &emergencyCodeCount, text)
            }
        }
        rows.emergencyCodeCount = emergencyCodeCount
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ emergencyCodeCount: inout Int, _ text: Span<UInt8>
    ) throws(ExportRowRefusal) {
        var lines = TextLines(text)
        guard let first = lines.next(in: text) else { throw .noSecret }
        row.secret = .base32(corrected(text.extracting(first.range)))
        row.kind = .unknown
        // The lines without a quotation mark are emergency codes, which are not imported.
        while let line = lines.next(in: text) {
            let content = text.extracting(line.range)
            guard content.hasPrefixIgnoringCase("\" ") else {
                emergencyCodeCount += 1
                continue
            }
            let option = SecretBytes(copying: content.extracting(2...)).decodedText() ?? ""
            let words = option.split(separator: " ")
            switch words.first {
            case "TOTP_AUTH":
                guard row.kind == .unknown else { throw .unknownType }
                row.kind = .totp
            case "HOTP_COUNTER":
                guard row.kind == .unknown else { throw .unknownType }
                row.kind = .hotp
                row.counter = number(words)
            case "STEP_SIZE": row.period = number(words)
            case "DISALLOW_REUSE":
                // The used time steps; the module removes those that have left its window.
                if let last = words.dropFirst().compactMap({ UInt64($0) }).max() {
                    row.lastUse = .step(last)
                }
            default: break
            }
        }
    }

    private static func number(_ words: [Substring]) -> ExportRow.Number {
        words.count == 2 ? ExportRow.Number(String(words[1])) : .malformed
    }

    /// The secret with 0, 1 and 8 replaced by the letters as which the PAM module reads them.
    private static func corrected(_ line: Span<UInt8>) -> SecretBytes {
        SecretBytes(capacity: line.count) { output in
            for index in line.indices {
                switch line[index] {
                case UInt8(ascii: "0"): output.append(UInt8(ascii: "O"))
                case UInt8(ascii: "1"): output.append(UInt8(ascii: "L"))
                case UInt8(ascii: "8"): output.append(UInt8(ascii: "B"))
                default: output.append(line[index])
                }
            }
        }
    }
}
