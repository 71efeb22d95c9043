package import WatchwordCryptography

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
