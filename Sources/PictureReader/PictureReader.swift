public import POSIX

/// Asks `watchword-reader`, a confined process, for the symbols of pictures.
///
/// One process reads many pictures. A picture that makes it crash, spin or eat memory costs that
/// picture alone: the process is ended and the next picture gets a new one. Nothing that the process says
/// is believed before it was checked, and no picture is decoded on this side.
///
/// It must be used from one thread, which must live as long: the kernel ends the processes with it.
public final class PictureReader {
    /// After so many pictures a process is replaced, so that what a hostile one left behind does not last.
    public static let picturesPerProcess = 64
    /// How many pictures may be read ahead of the one that is reported next.
    private static let window = 16
    /// How many processes read a list of pictures side by side.
    private static let processesForLists = 2

    /// The longest single wait: of the time for which the whole program is stopped, no more is counted.
    private static let slice = Duration.milliseconds(500)

    private let path: String
    private let timeout: Duration
    private var connections: [ReaderConnection] = []

    /// Names the program to ask.
    ///
    /// - Parameters:
    ///   - path: The program; by default the one beside the running program, or else where it is
    ///     installed for it (`../libexec/watchword/`).
    ///   - timeout: How long one picture may take.
    /// - Throws: ``PictureReaderFailure/notFound`` when no path is given and there is none.
    public init(path: String? = nil, timeout: Duration = .seconds(30)) throws(PictureReaderFailure)
    {
        guard let path = path ?? PictureReader.installedPath() else { throw .notFound }
        self.path = path
        self.timeout = timeout
    }

    /// Starts a process ahead of time, and does not wait for it.
    public func prepare() throws(PictureReaderFailure) {
        guard connections.isEmpty else { return }
        connections.append(try ReaderConnection(running: path))
    }

    /// Reads one picture from an open file or pipe.
    ///
    /// - Parameter symbol: is lent the bytes of each symbol, which may be a key, once the whole answer
    ///   was found sound; they are wiped afterwards.
    /// - Throws: ``PictureReaderFailure`` when no picture could be read, whatever it is.
    public func read(
        _ file: borrowing FileDescriptor, symbol: (Span<UInt8>) -> Void
    ) throws(PictureReaderFailure) -> PictureOutcome {
        let copy: FileDescriptor
        do { copy = try file.duplicate() } catch { throw .system(error) }
        let picture: OpenPicture
        do throws(PictureRefusal) {
            picture = .source(try PictureSource(copy))
        } catch {
            return .refused(error)
        }
        var outcome = PictureOutcome.refused(.noAnswer)
        try read(count: 1, open: { _ in picture }) { _, answer in
            answer.forEachSymbol(symbol)
            outcome = answer.outcome
        }
        return outcome
    }

    /// Reads the picture files at `paths`, some side by side, and reports them in order.
    ///
    /// - Parameters:
    ///   - symbol: is lent the bytes of each symbol with its picture's index, as in ``read(_:symbol:)``.
    ///   - finished: is told each picture's outcome, after its symbols and before the next picture's.
    /// - Throws: ``PictureReaderFailure`` when no picture could be read, whatever it is; those already
    ///   reported stay reported.
    public func read(
        _ paths: [String], symbol: (Int, Span<UInt8>) -> Void,
        finished: (Int, PictureOutcome) -> Void
    ) throws(PictureReaderFailure) {
        try read(count: paths.count, open: { OpenPicture(path: paths[$0]) }) { index, answer in
            answer.forEachSymbol { symbol(index, $0) }
            finished(index, answer.outcome)
        }
    }
}

/// A picture that is to be read, or why it can't.
private enum OpenPicture {
    case source(PictureSource)
    case refused(PictureRefusal)

    init(path: String) {
        do throws(PictureRefusal) {
            self = .source(try PictureSource(path: path))
        } catch {
            self = .refused(error)
        }
    }
}

extension PictureReader {
    /// Reads `count` pictures, which are opened as their turn comes, and delivers them in order.
    private func read(
        count: Int, open: (Int) -> OpenPicture, deliver: (Int, PictureAnswer) -> Void
    ) throws(PictureReaderFailure) {
        // What is still in hand when an error ends this belongs to nobody any more.
        defer { connections.removeAll { $0.isBusy } }
        var answers: [Int: PictureAnswer] = [:]
        var opened = 0
        var delivered = 0
        while delivered < count {
            while opened < count, opened - delivered < PictureReader.window,
                connections.count(where: \.isBusy) < PictureReader.processesForLists
            {
                switch open(opened) {
                case .refused(let refusal): answers[opened] = PictureAnswer(refused: refusal)
                case .source(let source): try give(source, index: opened)
                }
                opened += 1
            }
            var ended: [(Int, PictureAnswer)] = []
            for connection in connections where connection.isBusy {
                if let answer = try connection.advance() {
                    ended.append((connection.index, answer))
                }
            }
            if ended.isEmpty, answers[delivered] == nil { ended = try wait() }
            for (index, answer) in ended { answers[index] = answer }
            connections.removeAll { !$0.isBusy && $0.isWorn }
            while let answer = answers.removeValue(forKey: delivered) {
                deliver(delivered, answer)
                delivered += 1
            }
        }
    }

    /// Hands a picture to an idle process, or to a new one.
    private func give(_ source: PictureSource, index: Int) throws(PictureReaderFailure) {
        for connection in connections where !connection.isBusy {
            if try connection.take(source, index: index, timeout: timeout) { return }
        }
        connections.removeAll { !$0.isBusy && $0.isWorn }
        let connection = try ReaderConnection(running: path)
        connections.append(connection)
        // A process that has not said anything yet takes whatever it is given.
        _ = try connection.take(source, index: index, timeout: timeout)
    }

    /// Waits until something can be done, and ends what has lasted too long.
    private func wait() throws(PictureReaderFailure) -> [(Int, PictureAnswer)] {
        let busy = connections.filter(\.isBusy)
        guard !busy.isEmpty else { return [] }
        let limit = busy.compactMap(\.remainingTime).min() ?? PictureReader.slice
        let waited: Duration
        do throws(SystemCallFailure) {
            waited = try Polling.wait(
                for: busy.flatMap(\.wishes), timeout: min(limit, PictureReader.slice))
        } catch {
            throw .system(error)
        }
        var ended: [(Int, PictureAnswer)] = []
        for connection in busy {
            // An answer that has just come is not late.
            var answer = try connection.advance()
            if answer == nil { answer = try connection.lapse(waited) }
            if let answer {
                ended.append((connection.index, answer))
            }
        }
        return ended
    }
}
