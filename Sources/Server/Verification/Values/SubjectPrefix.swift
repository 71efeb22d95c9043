/// The beginning of the subjects to which an application is limited.
///
/// The prefix ends in a slash or a colon, so that `unix:web1:` does not include the subjects of
/// `web10`.
public struct SubjectPrefix: Hashable, Sendable {
    /// 1 to 255 bytes of UTF-8.
    public let utf8: [UInt8]

    /// Accepts the beginning of a subject that ends in `/` or `:`, and returns `nil` otherwise.
    public init?(utf8: [UInt8]) {
        let separators = [UInt8(ascii: "/"), UInt8(ascii: ":")]
        guard Subject(utf8: utf8) != nil, let last = utf8.last, separators.contains(last) else {
            return nil
        }
        self.utf8 = utf8
    }

    /// Accepts a text that ends in `/` or `:`.
    public init?(_ text: String) { self.init(utf8: Array(text.utf8)) }

    /// The prefix as a string.
    public var text: String { String(decoding: utf8, as: UTF8.self) }

    /// Whether a subject, or a longer prefix, begins with this prefix.
    public func includes(_ utf8: [UInt8]) -> Bool { utf8.starts(with: self.utf8) }
}
