internal import Cryptography

// A mark outside the database is a line of text, in a file or a log.
extension ChainMark {
    /// What every mark's text begins with.
    public static let textPrefix = "watchword-chain-mark "

    /// The mark as one line without its end: node, number, digest and HMAC.
    public var text: String {
        Self.textPrefix + Base64URL.encode(node.span) + " \(sequence) "
            + Base64URL.encode(digest.span) + " " + Base64URL.encode(authentication.span)
    }

    /// Reads the text, which each mark has one of; whether it is authentic, ``AuditTrail`` says.
    public init?(text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, let sequence = UInt64(words[2]) else { return nil }
        do throws(Base64Error) {
            self.init(
                node: try Base64URL.decode(Array(words[1].utf8).span), sequence: sequence,
                digest: try Base64URL.decode(Array(words[3].utf8).span),
                authentication: try Base64URL.decode(Array(words[4].utf8).span))
        } catch {
            return nil
        }
        guard node.count == 16, digest.count == 32, authentication.count == 32, self.text == text
        else { return nil }
    }
}
