/// Why a text could not be read as JSON.
///
/// It reports the position, never the content.
public enum JSONReadingError: Error, Hashable, Sendable {
    /// The text has more bytes than the limit.
    case tooLong(limit: Int)
    /// The text has more levels than the limit.
    case tooDeep(limit: Int)
    /// The text is not JSON, or is not an object or a list; the position is in bytes.
    case syntax(at: Int)
    /// The text ends before the value does.
    case incomplete
    /// There is something other than white space after the value.
    case trailing(at: Int)
    /// Invalid UTF-8.
    case notUTF8(at: Int)
    /// U+0000 in a text or a name.
    case nul(at: Int)
    /// A name that occurs twice in one object.
    case duplicateName(at: Int)
    /// A number that is not whole or exceeds `Int64`, or 2^53 if it has a decimal point or an
    /// exponent.
    case notWhole
    /// The library ran out of memory.
    case noMemory
}
