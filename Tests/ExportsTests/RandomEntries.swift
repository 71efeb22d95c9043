import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

extension SeededGenerator {
    /// Entries of every kind, with names, tags and notes that are hard to encode.
    mutating func entries(count: Int) throws -> [ExportedEntry] {
        var entries: [ExportedEntry] = []
        for _ in 0..<count { entries.append(try entry()) }
        return entries
    }

    private mutating func entry() throws -> ExportedEntry {
        let content: ExportedEntry.Content =
            switch Int.random(in: 0..<8, using: &self) {
            case 0: .notComputed(uncomputed(.yandex))
            case 1: .notComputed(uncomputed(.motp))
            default: .oneTimePassword(try credentialOfAnyApp())
            }
        let tags = ["Work", "Größe", "日本 & Co", "a:b", "\u{202E}x"].shuffled(using: &self)
        return ExportedEntry(
            content: content, tags: Array(tags.prefix(Int.random(in: 0...3, using: &self))),
            note: ["", "two\nlines", "<b>&amp;", "\u{1B}[31m é 😀"].randomElement(using: &self)
                ?? "",
            isFavourite: Bool.random(using: &self))
    }

    private mutating func uncomputed(_ kind: UncomputedCode.Kind) -> UncomputedCode {
        let motp = ["0123456789abcdef", "00ff", "ABCDEF01", "abc"].randomElement(using: &self)
        // Aegis accepts this length.
        let yandex = Bool.random(using: &self) ? SecretBytes(text: "sixteen bytes ab") : key()
        return UncomputedCode(
            kind: kind, issuer: name(), account: name(),
            secret: kind == .motp ? SecretBytes(text: motp ?? "") : yandex,
            pin: [nil, "1234", "0", "p&ü %"].randomElement(using: &self)?.map(
                SecretBytes.init(text:)))
    }

    private mutating func credentialOfAnyApp() throws -> Credential {
        let algorithm = HashAlgorithm.allCases.randomElement(using: &self) ?? .sha1
        let digits = CodeStyle.decimal(
            try #require(
                CodeLength(digits: [6, 6, 6, 8, 7, 5, 10, 1].randomElement(using: &self) ?? 6)))
        let isOdd = Int.random(in: 0..<6, using: &self) == 0
        let parameters = isOdd ? [Credential.Parameter(name: "image", value: "https://x/?y")] : []
        switch Int.random(in: 0..<4, using: &self) {
        case 0:
            let counter = isOdd ? number() : UInt64.random(in: 0...20_000, using: &self)
            return try Credential(
                issuer: name(), account: name(), key: key(), algorithm: algorithm, style: digits,
                movingFactor: .counter(counter), otherParameters: parameters)
        case 1:
            return try Credential(
                issuer: Bool.random(using: &self) ? "Steam" : name(), account: name(), key: key(),
                style: .steam)
        default:
            let period = Int64(
                [30, 30, 60, 15, 7_200, 3_000_000].randomElement(using: &self) ?? 30)
            return try Credential(
                issuer: isOdd ? "Steam" : name(), account: name(), key: key(),
                algorithm: algorithm, style: digits,
                movingFactor: .time(
                    try #require(
                        TimeStep(
                            period: period, start: Int.random(in: 0..<6, using: &self) == 0 ? 45 : 0
                        ))),
                otherParameters: parameters)
        }
    }

    /// A name that other apps can write: without spaces around it and without NUL.
    ///
    /// Readers remove an issuer at the beginning of an account, because apps add it there, so no
    /// two names share their first letter here.
    private mutating func name() -> String {
        let pieces = [
            "Z", "0", ":", "%", "%3A", "+", " ", "#", "&", "=", "?", "/", "@", "ü", "日", "😀",
            "\u{301}", "\"", "<", "e\u{301}", "\u{200D}", ",", "'",
        ]
        var text = ["a", "b", "c", "d", "e", "f", "g", "h"].randomElement(using: &self) ?? "a"
        if Int.random(in: 0..<8, using: &self) == 0 { return "" }
        text += String(UInt64.random(in: 0..<1_000_000, using: &self))
        for _ in 0..<Int.random(in: 0...6, using: &self) {
            text += pieces.randomElement(using: &self) ?? ""
        }
        return text + "."
    }
}
