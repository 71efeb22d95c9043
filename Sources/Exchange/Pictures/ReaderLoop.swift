public import ProcessConfinement
internal import WatchwordSystem

/// The reader's side: give up all privileges, then read one image after another.
///
/// `watchword-reader` and the faulty readers in the tests use it.
public enum ReaderLoop {
    /// The resources that a reader may use: 1 GiB, and time for more images than it ever gets.
    public static let limits = Confinement.Limits(
        addressSpace: 1 << 30, processorSeconds: ReaderPool.picturesPerProcess * 25 + 60)

    /// Confines the process, then reads images and sends the results until standard input ends.
    ///
    /// Everything that `read` needs from the file system must already be loaded. If the process
    /// cannot be confined, it reports this and ends without reading an image.
    ///
    /// - Parameter runsLibraries: as in ``Confinement/enter(_:runsLibraries:)``.
    public static func run(
        limits: Confinement.Limits = limits, runsLibraries: Bool = false,
        read: ([UInt8]) -> PictureFinding
    ) -> Never {
        ConfinedHelper.run(
            as: ReaderProtocol.identity, limits: limits, runsLibraries: runsLibraries
        ) { () throws(SystemCallFailure) in
            while let picture = try nextPicture() {
                try ConfinedHelper.send(read(picture).frame())
            }
        }
    }

    /// The next whole image; `nil` if standard input has ended.
    private static func nextPicture() throws(SystemCallFailure) -> [UInt8]? {
        var picture: [UInt8] = []
        while let count = try FileDescriptor.readCount(from: 0) {
            switch count {
            case 0:
                return picture
            case Int(ReaderProtocol.dropped):
                picture = []
            default:
                guard count <= ReaderProtocol.largestChunk,
                    count <= ReaderProtocol.largestPicture - picture.count
                else { ConfinedHelper.refuseRequest() }
                guard
                    try FileDescriptor.read(exactly: count, from: 0, appendingTo: &picture)
                else { return nil }
            }
        }
        return nil
    }
}

/// The result of reading an image, in the reader's process.
public enum PictureFinding: Hashable, Sendable {
    /// The symbols' bytes, possibly none, and the names of the stages that were tried.
    ///
    /// The bytes may be keys. They are in ordinary memory, because the process does nothing else,
    /// is confined, cannot be dumped, and ends soon.
    case symbols([[UInt8]], tried: [String])
    /// The content is not an image.
    case notAPicture
    /// The content is an image in an unsupported format.
    case unsupported(format: String)
    /// The library for the image's format is not installed.
    case libraryMissing(ImageFormat)
    /// The content is damaged.
    case damaged
    /// The content can be read only with a password.
    case encrypted
    /// The image exceeds a limit.
    case tooLarge(PictureLimit)
    /// A library reported that it ran out of memory.
    case outOfMemory
    /// No symbol was read within the time limit for an image.
    case outOfTime
}
