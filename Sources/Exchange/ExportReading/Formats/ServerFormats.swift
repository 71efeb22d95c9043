internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography
internal import WatchwordSystem

/// The `users.oath` file of oath-toolkit.
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
        /// The time step in seconds; `nil` for HOTP.
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

    /// The first seven words; further words are not read.
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
                // The used time steps; the module removes time steps that have left its window.
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

    /// The secret with 0, 1 and 8 replaced by the letters that the PAM module reads instead.
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
