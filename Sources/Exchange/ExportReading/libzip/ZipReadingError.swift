/// Why an archive or one of its members could not be read.
///
/// It never contains names or content.
public enum ZipReadingError: Error, Hashable, Sendable {
    /// The bytes are not a zip archive.
    case notAnArchive
    /// The archive breaks its format's rules, is truncated, or has two members of one name.
    case damaged
    /// The member is encrypted, and no password was given.
    case passwordNeeded
    /// The password is wrong, or the encrypted member is damaged.
    case wrongPassword
    /// The member uses a compression or encryption that the library does not support.
    case unsupported
    /// The archive or the member exceeds a limit.
    case overLimit(Limit, found: UInt64, allowed: UInt64)
    /// There is not enough memory.
    case outOfMemory

    /// A limit of an archive.
    public enum Limit: Hashable, Sendable {
        /// The number of members.
        case members
        /// The length of a member in bytes.
        case length
        /// The ratio of a member's length to its compressed length.
        case ratio
    }
}
