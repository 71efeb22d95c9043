/// Whose credentials they are: the application's own name for a person, 1 to 255 bytes of UTF-8.
///
/// Two subjects are the same when their bytes are: unlike `String`, which takes `é` and `e` with an
/// accent for one text, because no database does. The text may hold anything, also line breaks: who
/// prints it escapes it.
public struct Subject: Hashable, Sendable {
    /// 1 to 255 bytes of UTF-8.
    public let utf8: [UInt8]

    /// The most bytes of a subject.
    public static let maximalCount = 255

    /// Takes 1 to 255 bytes of valid UTF-8 without NUL; nothing for others.
    public init?(utf8: [UInt8]) {
        guard (1...Self.maximalCount).contains(utf8.count), !utf8.contains(0),
            String(validating: utf8, as: UTF8.self) != nil
        else { return nil }
        self.utf8 = utf8
    }

    /// Takes a text of 1 to 255 bytes without NUL.
    public init?(_ text: String) { self.init(utf8: Array(text.utf8)) }

    /// The subject as text.
    public var text: String { String(decoding: utf8, as: UTF8.self) }
}
