internal import ProcessConfinement
public import WatchwordSystem

/// Lends an image's bytes to the closure that it is given, each time it is called.
///
/// This module does not use `SecretBytes`, so that `watchword-reader` does not load OpenSSL.
public typealias PictureLender = ((Span<UInt8>) -> Void) -> Void

/// Reads the symbols in images with `watchword-reader`, a confined process.
///
/// One process reads many images. An image whose format needs a library that must be loaded is
/// read by a process that was started with this library. If an image makes it crash, hang or
/// exhaust its memory, only that image is lost: the process is killed, and the next image gets
/// a new one. Everything that the process sends is checked, and no image is decoded on this side.
///
/// It must be used from one thread, which must outlive it: the kernel kills the processes when that
/// thread ends.
public final class ReaderPool {
    /// A process is replaced after this many images, so that the effects of a hostile image do
    /// not last.
    public static let picturesPerProcess = 64
    /// The maximum number of images that have been opened but not yet reported.
    private static let window = 16
    /// How many processes read a list of images in parallel.
    private static let processesForLists = 2

    private let path: String
    private let timeout: Duration
    private var connections: [ReaderConnection] = []

    /// Sets the program that reads the images.
    ///
    /// - Parameters:
    ///   - path: The program; by default the one next to the running program, or else in the
    ///     installation folder (`../libexec/watchword/`).
    ///   - timeout: How long one image may take.
    /// - Throws: ``HelperFailure/notFound`` if no path is given and there is no such
    ///   program.
    public init(path: String? = nil, timeout: Duration = .seconds(30)) throws(HelperFailure) {
        guard let path = path ?? RunningProgram.companion("watchword-reader") else {
            throw .notFound
        }
        self.path = path
        self.timeout = timeout
    }

    /// Starts a process in advance and does not wait for it.
    public func prepare() throws(HelperFailure) {
        guard connections.isEmpty else { return }
        connections.append(try ReaderConnection(running: path))
    }

    /// Reads one image from an open file or pipe.
    ///
    /// - Parameter symbol: is lent the bytes of each symbol, which may be a key, once the whole
    ///   answer has been checked; they are wiped afterwards.
    /// - Throws: ``HelperFailure`` if no image at all can be read.
    public func read(
        _ file: borrowing FileDescriptor, symbol: (Span<UInt8>) -> Void
    ) throws(HelperFailure) -> PictureOutcome {
        let copy = try HelperFailure.system(in: file.duplicate())
        return try read(OpenPicture(copy), symbol: symbol)
    }

    /// Reads one image that is in memory.
    public func read(
        byteCount: Int, lend: @escaping PictureLender, symbol: (Span<UInt8>) -> Void
    ) throws(HelperFailure) -> PictureOutcome {
        try read(OpenPicture(byteCount: byteCount, lend: lend), symbol: symbol)
    }

    private func read(
        _ picture: OpenPicture, symbol: (Span<UInt8>) -> Void
    ) throws(HelperFailure) -> PictureOutcome {
        var outcome = PictureOutcome.refused(.lost(.noResponse))
        try read(count: 1, open: { _ in picture }) { _, answer in
            answer.forEachSymbol(symbol)
            outcome = answer.outcome
        }
        return outcome
    }

    /// Reads the image files at `paths`, some in parallel, and reports them in order.
    ///
    /// - Parameters:
    ///   - symbol: is lent the bytes of each symbol with its image's index, as in
    ///     ``read(_:symbol:)``.
    ///   - finished: is called with each image's outcome, after its symbols and before the next
    ///     image's.
    /// - Throws: ``HelperFailure`` if no image at all can be read; outcomes that were already
    ///   reported remain valid.
    public func read(
        _ paths: [String], symbol: (Int, Span<UInt8>) -> Void,
        finished: (Int, PictureOutcome) -> Void
    ) throws(HelperFailure) {
        try read(count: paths.count, open: { OpenPicture(path: paths[$0]) }) { index, answer in
            answer.forEachSymbol { symbol(index, $0) }
            finished(index, answer.outcome)
        }
    }
}

extension ReaderPool {
    /// Reads `count` images, opening each when its turn comes, and delivers them in order.
    private func read(
        count: Int, open: (Int) -> OpenPicture, deliver: (Int, PictureAnswer) -> Void
    ) throws(HelperFailure) {
        // If an error ends the loop, the images that are still being read are abandoned.
        defer { connections.removeAll { $0.isBusy } }
        var answers: [Int: PictureAnswer] = [:]
        var opened = 0
        var delivered = 0
        while delivered < count {
            while opened < count, opened - delivered < ReaderPool.window,
                connections.count(where: \.isBusy) < ReaderPool.processesForLists
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
            connections.removeAll { !$0.isBusy && $0.isExhausted }
            while let answer = answers.removeValue(forKey: delivered) {
                deliver(delivered, answer)
                delivered += 1
            }
        }
    }

    /// Hands an image to an idle process, or to a new one.
    private func give(_ source: any PictureSource, index: Int) throws(HelperFailure) {
        for connection in connections where !connection.isBusy {
            if try connection.take(source, index: index, timeout: timeout) { return }
        }
        connections.removeAll { !$0.isBusy && $0.isExhausted }
        let connection = try ReaderConnection(running: path, library: source.library)
        connections.append(connection)
        // A process that has not sent its greeting yet always accepts an image.
        _ = try connection.take(source, index: index, timeout: timeout)
    }

    /// Waits until a process can make progress, and kills those whose timeout has expired.
    private func wait() throws(HelperFailure) -> [(Int, PictureAnswer)] {
        let busy = connections.filter(\.isBusy)
        guard !busy.isEmpty else { return [] }
        let waited = try HelperFailure.system(
            in: HelperProcess.wait(
                for: busy.flatMap(\.interests), timeout: busy.compactMap(\.remainingTime).min()))
        var ended: [(Int, PictureAnswer)] = []
        for connection in busy {
            // An answer that has just arrived is not late.
            var answer = try connection.advance()
            if answer == nil { answer = try connection.countWait(waited) }
            if let answer {
                ended.append((connection.index, answer))
            }
        }
        return ended
    }
}
