public import POSIX

/// The outcome for one picture.
public enum PictureOutcome: Hashable, Sendable {
    /// The number of symbols that were read, at least one, and the names of the stages that were
    /// tried.
    case symbols(Int, tried: [String])
    /// Nothing was read, for this reason.
    case refused(PictureRefusal)
}

/// Why nothing was read from a picture.
public enum PictureRefusal: Error, Hashable, Sendable {
    /// The picture is intact, but none of the stages named found a symbol.
    case noSymbol(tried: [String])
    /// The content is not a picture.
    case notAPicture
    /// The content is a picture in an unsupported format.
    case unsupported(format: String)
    /// The content is damaged.
    case damaged
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

    /// The reader crashed with this signal; the picture may be hostile.
    case crashed(signal: Int32)
    /// The reader was killed for a forbidden system call (to open a file or a socket, for example).
    case forbiddenCall
    /// Reading took too long.
    case timedOut
    /// Reading needed more memory than the reader is allowed.
    case tooMuchMemory
    /// The reader's answer broke the protocol; all of it was rejected.
    case badAnswer
    /// The reader ended without an answer, or in an unknown way.
    case noAnswer
}

/// The limit that a picture exceeds.
public enum PictureLimit: Hashable, Sendable {
    case bytes
    case pixels
    case side
    case frames
}

extension PictureRefusal {
    /// The reason why a picture was refused, derived from how its reader ended.
    init(
        ending: ChildProcess.Ending, peakMemory: Int,
        limits: Confinement.Limits = ReaderLoop.limits
    ) {
        let isLarge = peakMemory >= limits.addressSpace / 2
        self =
            switch ending {
            // Swift and the libraries crash when an allocation fails, and the kernel kills
            // processes when it runs out of memory. Whether that caused a given crash or kill is a
            // guess.
            case .crashed where isLarge, .killed where isLarge: .tooMuchMemory
            case .crashed(let signal): .crashed(signal: signal)
            case .forbiddenCall: .forbiddenCall
            case .processorTimeSpent: .timedOut
            case .exited, .killed, .unknown: .noAnswer
            }
    }
}
