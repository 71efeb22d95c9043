package import WatchwordCryptography

/// How the truncated number is converted to characters.
public enum CodeStyle: Hashable, Sendable {
    /// Decimal digits (RFC 4226, section 5.3).
    case decimal(CodeLength)
    /// Five characters of Steam Guard's alphabet, which omits characters that are easily confused.
    case steam

    /// The number of characters in a code.
    public var length: Int {
        switch self {
        case .decimal(let length): length.digits
        case .steam: Self.steamLength
        }
    }

    /// The number of characters in a Steam Guard code.
    public static let steamLength = 5
}

extension CodeStyle {
    /// Derives a code from a truncated 31-bit HMAC.
    @inline(__always) func code(from number: UInt32) -> Code {
        switch self {
        case .decimal(let length): Self.decimal(number, digits: length.digits)
        case .steam: Self.steam(number)
        }
    }

    /// The number's last digits, with leading zeros (RFC 4226, section 5.3).
    @inline(__always) private static func decimal(_ number: UInt32, digits: Int) -> Code {
        let eight = lastEightDigits(number)
        guard digits > 8 else {
            return Code(first: eight &>> UInt64(64 &- 8 &* digits), count: digits)
        }
        // Ten digits hold every 31-bit number; a nine-digit code drops the first digit.
        let head = UInt64(number / 100_000_000)
        let two = (head / 10 + 0x30) | ((head % 10 + 0x30) << 8)
        let skipped = UInt64(8 * (10 - digits))
        let last = eight >> 48
        let first = ((two | (eight << 16)) >> skipped) | (skipped == 0 ? 0 : last << 56)
        return Code(first: first, rest: last >> skipped, count: digits)
    }

    /// The last eight decimal digits as ASCII, the first of them in the lowest byte.
    ///
    /// Lanes of four digits, of two and of one are divided in parallel. Each division is a
    /// multiplication that is exact for its range of operands. To shorten the dependency chain, one
    /// subtraction, (x << n) - q · ((d << n) - 1), computes the quotient q and the remainder of x
    /// side by side.
    @inline(__always) private static func lastEightDigits(_ number: UInt32) -> UInt64 {
        let tenThousands = number / 10_000
        let high = tenThousands &- ((number / 100_000_000) &* 10_000)
        let low = number &- (tenThousands &* 10_000)
        let fours = UInt64(high) | (UInt64(low) << 32)
        let hundreds = ((fours &* 10_486) >> 20) & 0x0000_007f_0000_007f
        let twos = (fours << 16) &- (hundreds &* ((100 << 16) - 1))
        let tens = ((twos &* 103) >> 10) & 0x000f_000f_000f_000f
        let ascii = (twos << 8) &+ 0x3030_3030_3030_3030
        return ascii &- (tens &* ((10 << 8) - 1))
    }

    /// Five characters of Steam Guard's alphabet, starting with the lowest part of the number.
    private static func steam(_ number: UInt32) -> Code {
        var left = number
        var characters: UInt64 = 0
        for index in 0..<steamLength {
            let character = steamAlphabet[Int(left % UInt32(steamAlphabet.count))]
            characters |= UInt64(character) << UInt64(8 * index)
            left /= UInt32(steamAlphabet.count)
        }
        return Code(first: characters, count: steamLength)
    }

    /// “23456789BCDFGHJKMNPQRTVWXY”.
    private static var steamAlphabet: [26 of UInt8] {
        [
            0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x42, 0x43, 0x44, 0x46, 0x47,
            0x48, 0x4a, 0x4b, 0x4d, 0x4e, 0x50, 0x51, 0x52, 0x54, 0x56, 0x57, 0x58, 0x59,
        ]
    }
}

/// The number of decimal digits in a code.
///
/// RFC 4226, section 5.3 specifies six to eight. Some services use other lengths, which are
/// also accepted here; see ``isStandard``.
public struct CodeLength: Hashable, Sendable {
    /// From 1 to 10.
    public let digits: Int

    /// Six digits, which almost every service uses.
    public static let six = CodeLength(checked: 6)
    /// Eight digits, the most that RFC 4226 specifies.
    public static let eight = CodeLength(checked: 8)

    /// Accepts 1 to 10, and returns `nil` for any other number.
    public init?(digits: Int) {
        guard (1...10).contains(digits) else { return nil }
        self.init(checked: digits)
    }

    private init(checked digits: Int) { self.digits = digits }

    /// Whether RFC 4226 allows it: six, seven or eight.
    public var isStandard: Bool { (6...8).contains(digits) }
}

extension HashAlgorithm {
    /// Recognises the spellings that apps write, such as `SHA-1`, `sha256`, `HmacSHA512`,
    /// `HMAC-SHA-256` and `Algorithm.sha1`.
    package init?(spelling: String) {
        var plain = spelling.asciiLowercased.utf8.filter { !Self.fillers.contains($0) }[...]
        for prefix in ["algorithm.", "hmac"] where plain.starts(with: prefix.utf8) {
            plain = plain.dropFirst(prefix.utf8.count)
        }
        for algorithm in Self.allCases
        where plain.elementsEqual(algorithm.rawValue.asciiLowercased.utf8) {
            self = algorithm
            return
        }
        return nil
    }

    /// Characters that are accepted between `HMAC`, `SHA` and the number.
    private static var fillers: [UInt8] {
        [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: " ")]
    }
}
