internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography
internal import WatchwordSystem

/// oath-toolkit's `users.oath`.
enum OATHUsersFormat {
    /// Whether the first line begins with a type of this format.
    static func isRecognised(_ text: Span<UInt8>) -> Bool {
        var lines = TextLines(text)
        while let line = lines.next(in: text) {
            let content = text.extracting(line.range)
            guard content[0] != UInt8(ascii: "#") else { continue }
            let words = words(of: content)
            return words.count >= 4 && TypeWord(content.extracting(words[0])) != nil
        }
        return false
    }

    static func read(_ text: SecretBytes) throws(ExportError) -> ExportRows {
        var rows = ExportRows(.oathUsersFile)
        try rows.append(linesOf: text, hasComments: true, filling: fill)
        return rows
    }

    /// Type, user, PIN, secret, counter, last code, time; the PIN is not kept.
    private static func fill(
        _ row: inout ExportRow, _ line: Span<UInt8>
    ) throws(ExportRowRefusal) {
        let words = words(of: line)
        guard words.count >= 4 else { throw .malformed }
        row.account = try SecretBytes(copying: line.extracting(words[1])).name()
        row.secret = .hex(SecretBytes(copying: line.extracting(words[3])))
        guard let type = TypeWord(line.extracting(words[0])) else { throw .unknownType }
        row.digits = type.digits
        if words.count > 5 {
            row.lastUse = .code(
                [UInt8](copying: line.extracting(words[5])),
                time: words.count > 6 ? time(line.extracting(words[6])) : nil)
        }
        if let period = type.period {
            row.period = .value(period)
        } else {
            row.kind = .hotp
            guard words.count > 4 else { return }
            row.counter = ExportRow.Number(
                SecretBytes(copying: line.extracting(words[4])).decodedText() ?? "-")
        }
    }

    /// Parses a local time of the form `2026-11-22T22:22:15L`; returns Unix seconds as if it were
    /// UTC.
    private static func time(_ word: Span<UInt8>) -> Int64? {
        let form = Array("0000-00-00T00:00:00L".utf8)
        guard word.count == form.count else { return nil }
        var numbers = [0]
        for index in word.indices {
            switch (form[index], word[index]) {
            case (UInt8(ascii: "0"), UInt8(ascii: "0")...UInt8(ascii: "9")):
                numbers[numbers.count - 1] =
                    numbers[numbers.count - 1] * 10 + Int(word[index] - UInt8(ascii: "0"))
            case (let expected, let found) where expected == found: numbers.append(0)
            default: return nil
            }
        }
        let midnight = UTCTime.startOfDay(year: numbers[0], month: numbers[1], day: numbers[2])
        let seconds = numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
        return midnight.map { $0 + Int64(seconds) }
    }

    /// `HOTP`, `HOTP/E`, `HOTP/T30` or `HOTP/T60`, with `/6` to `/8` after the latter three.
    private struct TypeWord {
        /// `nil` for HOTP.
        let period: Int64?
        let digits: ExportRow.Number

        init?(_ word: Span<UInt8>) {
            let text = SecretBytes(copying: word).decodedText()?.asciiLowercased ?? ""
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.first == "hotp", parts.count <= 3 else { return nil }
            switch parts.dropFirst().first {
            case nil, "e": period = nil
            case "t30": period = 30
            case "t60": period = 60
            default: return nil
            }
            guard parts.count == 3 else {
                digits = .absent
                return
            }
            guard ["6", "7", "8"].contains(parts[2]) else { return nil }
            digits = ExportRow.Number(String(parts[2]))
        }
    }

    /// The first seven words; the others are not read.
    private static func words(of line: Span<UInt8>) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var start = 0
        while start < line.count, words.count < 7 {
            var end = start
            while end < line.count, !line[end].isASCIISpace { end += 1 }
            if end > start { words.append(start..<end) }
            start = end + 1
        }
        return words
    }
}
