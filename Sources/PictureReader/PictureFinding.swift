/// What a reader, in its own process, makes of a picture.
public enum PictureFinding: Hashable, Sendable {
    /// The symbols' bytes, maybe none, and the names of the stages that were gone through.
    ///
    /// The bytes may be keys. They lie in ordinary memory, because the process does nothing else, is
    /// confined, cannot be dumped, and ends soon.
    case symbols([[UInt8]], tried: [String])
    /// The content is not of a picture.
    case notAPicture
    /// The content is of a kind of picture that is not read, by its name.
    case unsupported(format: String)
    /// The content is broken.
    case damaged
    /// The picture is over a limit.
    case tooLarge(PictureLimit)
    /// A library ran out of memory, and said so.
    case outOfMemory
}
