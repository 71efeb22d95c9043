/// The result of reading a picture, in the reader's process.
public enum PictureFinding: Hashable, Sendable {
    /// The symbols' bytes, possibly none, and the names of the stages that were tried.
    ///
    /// The bytes may be keys. They are in ordinary memory, because the process does nothing else,
    /// is confined, cannot be dumped, and ends soon.
    case symbols([[UInt8]], tried: [String])
    /// The content is not a picture.
    case notAPicture
    /// The content is a picture in an unsupported format.
    case unsupported(format: String)
    /// The content is damaged.
    case damaged
    /// The picture exceeds a limit.
    case tooLarge(PictureLimit)
    /// A library reported that it ran out of memory.
    case outOfMemory
}
