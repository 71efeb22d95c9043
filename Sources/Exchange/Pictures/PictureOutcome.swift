public import ProcessConfinement
public import WatchwordSystem

/// The outcome for one picture.
public enum PictureOutcome: Hashable, Sendable {
    /// The number of symbols that were read, at least one, and the names of the stages that were
    /// tried.
    case symbols(Int, tried: [String])
    /// Nothing was read, for this reason.
    case refused(PictureRefusal)
}

/// Why nothing was read from a picture.
public enum PictureRefusal: Hashable, Sendable {
    /// The picture is intact, but none of the stages named found a symbol.
    case noSymbol(tried: [String])
    /// The content is not a picture.
    case notAPicture
    /// The content is a picture in an unsupported format.
    case unsupported(format: String)
    /// The library for the picture's format is not installed.
    case libraryMissing(ImageFormat)
    /// The content is damaged.
    case damaged
    /// The content can be read only with a password.
    case encrypted
    /// The picture exceeds a limit.
    case tooLarge(PictureLimit)
    /// There are too many symbols, or they are too long.
    case tooManySymbols

    /// The file is empty.
    case empty
    /// The path is a folder.
    case folder
    /// The file is a device, a terminal or a socket.
    case notAFile
    /// The file could not be opened or read.
    case unreadable(SystemCallFailure)

    /// The reader gave no valid answer.
    case lost(HelperLoss)
}

/// The limit that a picture exceeds.
public enum PictureLimit: CaseIterable, Hashable, Sendable {
    case bytes, pixels, side, frames
}
