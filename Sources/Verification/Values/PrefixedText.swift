internal import Cryptography

/// Identifiers as text: a prefix that says what it is, then base64url.
enum PrefixedText {
    /// The bytes behind the prefix; nothing unless it is the one right text for `count` bytes.
    static func bytes(of text: String, behind prefix: String, count: Int) -> [UInt8]? {
        let utf8 = Array(text.utf8)
        guard utf8.starts(with: prefix.utf8) else { return nil }
        let rest = Array(utf8.dropFirst(prefix.utf8.count))
        do throws(Base64Error) {
            let bytes = try Base64URL.decode(rest.span)
            return bytes.count == count ? bytes : nil
        } catch {
            return nil
        }
    }
}
