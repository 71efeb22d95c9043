/// The owner of credentials: the application's own name for a user, 1 to 255 bytes of UTF-8.
///
/// Subjects are compared byte by byte, as in a database. `String` would treat `é` and `e` with a
/// combining accent as equal. The text may contain any character except NUL, including line breaks.
/// Escape it for output.
public struct Subject: Hashable, Sendable {
    /// 1 to 255 bytes of UTF-8.
    public let utf8: [UInt8]

    /// The maximum number of bytes.
    public static let maximumCount = 255

    /// Accepts 1 to 255 bytes of valid UTF-8 without NUL, and returns `nil` otherwise.
    public init?(utf8: [UInt8]) {
        guard (1...Self.maximumCount).contains(utf8.count), !utf8.contains(0),
            String(validating: utf8, as: UTF8.self) != nil
        else { return nil }
        self.utf8 = utf8
    }

    /// Accepts a text of 1 to 255 bytes without NUL.
    public init?(_ text: String) { self.init(utf8: Array(text.utf8)) }

    /// The subject as text.
    public var text: String { String(decoding: utf8, as: UTF8.self) }
}
