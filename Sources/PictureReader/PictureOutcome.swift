public import POSIX

/// What became of a picture.
public enum PictureOutcome: Hashable, Sendable {
    /// This many symbols were read, at least one; the names of the stages that were gone through.
    case symbols(Int, tried: [String])
    /// Nothing was read, and this is why.
    case refused(PictureRefusal)
}

/// Why nothing was read from a picture.
public enum PictureRefusal: Error, Hashable, Sendable {
    /// A sound picture, in which no symbol was found by any of the stages named.
    case noSymbol(tried: [String])
    /// The content is not of a picture.
    case notAPicture
    /// The content is of a kind of picture that is not read, by its name.
    case unsupported(format: String)
    /// The content is broken.
    case damaged
    /// The picture is over a limit.
    case tooLarge(PictureLimit)
    /// There are more symbols, or longer ones, than anybody would print.
    case tooManySymbols

    /// There is not one byte.
    case empty
    /// It is a folder.
    case folder
    /// It is a device, a terminal or a socket.
    case notAFile
    /// The system would not open or read the file.
    case unreadable(SystemCallFailure)

    /// Reading it brought the reader down by this signal; the picture may be hostile.
    case crashed(signal: Int32)
    /// Reading it made the reader ask for what it must not have (a file, a socket …) and be killed.
    case forbiddenCall
    /// Reading it took too long.
    case timedOut
    /// Reading it took more memory than the reader may have.
    case tooMuchMemory
    /// The reader's answer broke the rules of the pipe; no part of it was believed.
    case badAnswer
    /// The reader left without an answer, or nobody knows how it ended.
    case noAnswer
}

/// The limit that a picture was over.
public enum PictureLimit: Hashable, Sendable {
    case bytes
    case pixels
    case side
    case frames
}
