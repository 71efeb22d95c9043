/// Why a text is not read as JSON: where, never what stands there.
public enum JSONReadingError: Error, Hashable, Sendable {
    /// More bytes than the limit.
    case tooLong(limit: Int)
    /// More levels than the limit.
    case tooDeep(limit: Int)
    /// No JSON, or no object and no list; counted in bytes.
    case syntax(at: Int)
    /// The text ends before the value does.
    case incomplete
    /// Something but white space stands behind the value.
    case trailing(at: Int)
    /// A byte that belongs to no character.
    case notUTF8(at: Int)
    /// U+0000 in a text or a name.
    case nul(at: Int)
    /// A name that comes twice in one object.
    case duplicateName(at: Int)
    /// A number that is not whole, or beyond `Int64`; one with a point or an exponent is beyond from 2^53 on.
    case notWhole
    /// The library found no memory.
    case noMemory
}
