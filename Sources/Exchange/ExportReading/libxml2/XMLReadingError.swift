/// Why a text could not be read as XML.
///
/// It never contains names or content.
public enum XMLReadingError: Error, Hashable, Sendable {
    /// The text is not well-formed XML.
    case notWellFormed
    /// The text is not UTF-8, or contains NUL.
    case notUTF8
    /// The text has a document type declaration, which can define entities.
    case documentType
    /// The text exceeds a limit.
    case overLimit(Limit, found: UInt64, allowed: UInt64)
    /// There is not enough memory.
    case outOfMemory

    /// A limit of a text.
    public enum Limit: Hashable, Sendable {
        /// The length in bytes.
        case bytes
        /// The nesting depth of elements.
        case depth
        /// The number of elements.
        case elements
        /// The number of attributes of one element.
        case attributes
    }
}

/// Limits for XML input.
public struct XMLLimits: Hashable, Sendable {
    /// The maximum length of the text in bytes.
    public let bytes: Int
    /// The maximum nesting depth of elements.
    public let depth: Int
    /// The maximum number of elements.
    public let elements: Int
    /// The maximum number of attributes, with namespace declarations, of one element.
    ///
    /// The library compares each attribute with each other one.
    public let attributes = 256

    /// Creates limits.
    ///
    /// The defaults are those for another app's export. The text of one element is limited only by
    /// the length of the whole.
    public init(bytes: Int = 128 << 20, depth: Int = 64, elements: Int = 1_000_000) {
        self.bytes = bytes
        self.depth = depth
        self.elements = elements
    }
}
