import SecretVault
import WatchwordSystem

/// A normalised form of a name; names that look alike have the same skeleton.
///
/// Case, width and style are folded (`Ｇ`, `𝐆` and `g`), invisible characters are removed, and
/// letters of other alphabets are replaced by the Latin letters that they resemble. This is coarser
/// than Unicode's tables (NFKC, UTS 39), which none of our libraries provides. A false match only
/// makes the list show an id.
struct NameSkeleton: Hashable {
    // Swift compares strings by canonical equivalence.
    private let text: String

    init(_ name: String) {
        var text = ""
        for scalar in name.unicodeScalars {
            if let letter = scalar.latinLookAlike, letter != " " {
                text.unicodeScalars.append(letter)
            } else if scalar.properties.generalCategory == .spaceSeparator {
                // Collapse spaces, and remove them at both ends.
                if text.last != " ", !text.isEmpty { text += " " }
            } else if !scalar.isInvisible {
                text += scalar.properties.lowercaseMapping
            }
        }
        if text.last == " " { text.removeLast() }
        self.text = text
    }
}

extension [EntrySummary] {
    /// The entries whose names look like that of a different entry.
    var lookAlikes: Set<RecordID> {
        var holders: [NameSkeleton: Set<RecordID>] = [:]
        for entry in self {
            let (text, shown) = (entry.name.text, entry.name.visible)
            holders[NameSkeleton(text), default: []].insert(entry.id)
            // A different name may contain the escape sequence literally.
            if shown != text { holders[NameSkeleton(shown), default: []].insert(entry.id) }
        }
        return holders.values.reduce(into: []) { found, alike in
            if alike.count > 1 { found.formUnion(alike) }
        }
    }
}

extension Unicode.Scalar {
    /// The lower-case ASCII character that this scalar looks like; `nil` if there is none.
    fileprivate var latinLookAlike: Unicode.Scalar? {
        if isASCII {
            let isCapital = ("A"..."Z").contains(self)
            return (isCapital ? Unicode.Scalar(UInt8(value) | 0x20) : self).asTyped
        }
        return (Self.homoglyphs[self] ?? styledLetter)?.asTyped
    }

    /// Maps `1`, `i` and `|` to `l`, and `0` to `o`.
    private var asTyped: Unicode.Scalar {
        switch self {
        case "1", "i", "|": "l"
        case "0": "o"
        default: self
        }
    }

    /// The letter or digit of which this scalar is a styled form: `g` for `Ｇ`, `𝐆` and `Ⓖ`.
    private var styledLetter: Unicode.Scalar? {
        switch value {
        // Fullwidth forms are in ASCII order.
        case 0xFF01...0xFF5E: return Unicode.Scalar(value - 0xFEE0)?.lowercased
        // Superscripts, subscripts, small capitals, letter-like symbols, enclosed and mathematical
        // letters.
        case 0x02B0...0x02B8, 0x1D00...0x1D6A, 0x2070...0x209C, 0x2100...0x214F, 0x2460...0x24EA,
            0x1D400...0x1D7FF, 0x1F110...0x1F189:
            break
        default: return nil
        }
        if let digit = properties.numericValue, (0...9).contains(digit) {
            return Unicode.Scalar(0x30 + UInt32(digit))
        }
        // Their names end with the letter: MATHEMATICAL BOLD CAPITAL G.
        guard let word = properties.name?.split(separator: " ").last, word.utf8.count == 1 else {
            return nil
        }
        return word.unicodeScalars.first?.lowercased
    }

    private var lowercased: Unicode.Scalar? { properties.lowercaseMapping.unicodeScalars.first }

    /// Cyrillic, Greek, Armenian and rare Latin letters, dashes, dots, colons and slashes, with the
    /// ASCII characters that they resemble.
    private static let homoglyphs: [Unicode.Scalar: Unicode.Scalar] = {
        let rows: KeyValuePairs<Unicode.Scalar, String> = [
            "a": "\u{430}\u{410}\u{3B1}\u{391}\u{251}",
            "b": "\u{432}\u{412}\u{3B2}\u{392}\u{44C}\u{42C}",
            "c": "\u{441}\u{421}\u{3F2}\u{3F9}",
            "d": "\u{501}\u{500}",
            "e": "\u{435}\u{415}\u{3B5}\u{395}",
            "f": "\u{3DD}\u{3DC}",
            "g": "\u{261}\u{581}\u{50C}\u{50D}",
            "h": "\u{43D}\u{41D}\u{397}\u{4BB}\u{4BA}\u{570}",
            "i": "\u{456}\u{406}\u{3B9}\u{399}\u{131}\u{4CF}\u{4C0}",
            "j": "\u{458}\u{408}\u{3F3}",
            "k": "\u{43A}\u{41A}\u{3BA}\u{39A}",
            "m": "\u{43C}\u{41C}\u{39C}",
            "n": "\u{43F}\u{39D}\u{3B7}\u{578}\u{57C}",
            "o": "\u{43E}\u{41E}\u{3BF}\u{39F}\u{585}\u{555}\u{3C3}",
            "p": "\u{440}\u{420}\u{3C1}\u{3A1}",
            "q": "\u{51B}\u{51A}\u{563}",
            "r": "\u{433}\u{1D26}",
            "s": "\u{455}\u{405}\u{54F}\u{17F}",
            "t": "\u{442}\u{422}\u{3C4}\u{3A4}",
            "u": "\u{3C5}\u{57D}\u{54D}",
            "v": "\u{3BD}\u{475}\u{474}",
            "w": "\u{3C9}\u{51D}\u{51C}\u{448}\u{428}",
            "x": "\u{445}\u{425}\u{3C7}\u{3A7}",
            "y": "\u{443}\u{423}\u{3A5}\u{3B3}\u{4AF}\u{4AE}",
            "z": "\u{396}\u{1D22}",
            "-": "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2043}\u{2212}\u{30FC}",
            ".": "\u{2024}\u{B7}\u{2027}\u{30FB}",
            ":": "\u{2236}\u{A789}\u{5C3}",
            "/": "\u{2044}\u{2215}\u{29F8}",
        ]
        var table: [Unicode.Scalar: Unicode.Scalar] = [:]
        for (letter, others) in rows {
            for other in others.unicodeScalars { table[other] = letter }
        }
        return table
    }()
}
