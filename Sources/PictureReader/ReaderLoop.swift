public import POSIX

/// The reader's side: give up all privileges, then read one picture after another.
///
/// `watchword-reader` and the faulty readers in the tests use it.
public enum ReaderLoop {
    /// The resources that a reader may use: 1 GiB, and time for more pictures than it ever gets.
    public static let limits = Confinement.Limits(
        addressSpace: 1 << 30, processorSeconds: ReaderPool.picturesPerProcess * 10 + 60)

    /// The reader's exit statuses.
    enum Status {
        static let done: Int32 = 0
        static let badRequest: Int32 = 3
        static let failure: Int32 = 6
    }

    /// Confines the process, then reads pictures and sends the results until standard input ends.
    ///
    /// Everything that `read` needs from the file system must already be loaded. If the process
    /// cannot be confined, it reports this and ends without reading a picture.
    public static func run(
        limits: Confinement.Limits = limits, read: ([UInt8]) -> PictureFinding
    ) -> Never {
        run(limits: limits) { () throws(SystemCallFailure) in
            while let picture = try nextPicture() {
                try send(Answer.bytes(for: read(picture)))
            }
        }
    }

    /// Confines the process, calls `answer`, and ends.
    static func run(
        limits: Confinement.Limits, answer: () throws(SystemCallFailure) -> Void
    ) -> Never {
        do throws(SystemCallFailure) {
            do throws(SystemCallFailure) {
                try Confinement.enter(limits)
            } catch {
                try send(Greeting.notConfined(error).bytes)
                ProcessEnd.atOnce(with: Status.failure)
            }
            try send(Greeting.confined.bytes)
            try answer()
            ProcessEnd.atOnce(with: Status.done)
        } catch {
            // There is nobody left to report to.
            ProcessEnd.atOnce(with: Status.failure)
        }
    }

    static func send(_ frame: [UInt8]) throws(SystemCallFailure) {
        try FileDescriptor.writeFrame(frame, to: 1)
    }

    /// The next whole picture; `nil` if standard input has ended.
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
                else { ProcessEnd.atOnce(with: Status.badRequest) }
                guard
                    try FileDescriptor.read(exactly: count, from: 0, appendingTo: &picture)
                else { return nil }
            }
        }
        return nil
    }
}

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
