public import POSIX

/// The reader's end of the pipe: give up everything, then answer one picture after the other.
///
/// `watchword-reader` and the faulty readers of the tests share it.
public enum ReaderLoop {
    /// What a reader may use: 1 GiB, and the time of more pictures than it is ever given.
    public static let limits = Confinement.Limits(
        addressSpace: 1 << 30, processorSeconds: PictureReader.picturesPerProcess * 10 + 60)

    /// Statuses that a reader leaves with.
    private enum Status {
        static let done: Int32 = 0
        static let badRequest: Int32 = 3
        static let failure: Int32 = 6
    }

    /// Confines the process and answers pictures until standard input ends.
    ///
    /// What `read` needs from the file system must be loaded before. Where the process cannot be
    /// confined it says so to the other end and leaves without having looked at a picture.
    public static func run(
        limits: Confinement.Limits = limits, read: ([UInt8]) -> PictureFinding
    ) -> Never {
        do {
            do throws(SystemCallFailure) {
                try Confinement.enter(limits)
            } catch {
                try send(Greeting.notConfined(error).bytes)
                ProcessEnd.atOnce(with: Status.failure)
            }
            try send(Greeting.confined.bytes)
            while let picture = try nextPicture() {
                try send(Answer.bytes(for: read(picture)))
            }
            ProcessEnd.atOnce(with: Status.done)
        } catch {
            // Nobody is left to be told.
            ProcessEnd.atOnce(with: Status.failure)
        }
    }

    private static func send(_ frame: [UInt8]) throws(SystemCallFailure) {
        let bytes = UInt32(frame.count).littleEndianBytes + frame
        try FileDescriptor.writeAll(bytes.span, to: 1)
    }

    /// The next picture whole, or nothing when standard input has ended.
    private static func nextPicture() throws(SystemCallFailure) -> [UInt8]? {
        var picture: [UInt8] = []
        while let count = try nextCount() {
            switch count {
            case 0:
                return picture
            case ReaderProtocol.dropped:
                picture = []
            default:
                let size = Int(count)
                guard size <= ReaderProtocol.largestChunk,
                    size <= ReaderProtocol.largestPicture - picture.count
                else { ProcessEnd.atOnce(with: Status.badRequest) }
                guard
                    try FileDescriptor.read(exactly: size, from: 0, appendingTo: &picture)
                else { return nil }
            }
        }
        return nil
    }

    private static func nextCount() throws(SystemCallFailure) -> UInt32? {
        var bytes: [UInt8] = []
        guard try FileDescriptor.read(exactly: 4, from: 0, appendingTo: &bytes) else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
