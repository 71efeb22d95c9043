internal import ProcessConfinement
internal import WatchwordSystem

/// One reader process and the image that it is reading.
final class ReaderConnection {
    /// Whether the process must not be used again: it has ended, has broken the protocol, or has
    /// read enough images.
    var isExhausted: Bool { isSpent || pictureCount >= ReaderPool.picturesPerProcess }

    /// The caller's index of the image that the process is reading, or read last.
    private(set) var index = 0
    private var pictureCount = 0
    private var isSpent = false

    private enum Task {
        case none
        case sending(any PictureSource)
        /// The source failed halfway; the reader has not been told yet.
        case dropping(PictureRefusal)
        case awaitingAnswer
    }

    private let helper: HelperProcess
    private var task = Task.none
    private var awaitsSource = false
    /// The timeout for the current image; it starts once the reader is ready.
    private var pictureTimeout = Duration.zero

    /// How long a reader may take to start.
    private static let startTimeout = Duration.seconds(30)
    private static let limits = HelperProcess.Limits(
        greeting: HelperGreeting.maximumCount, frame: ReaderProtocol.largestAnswer,
        outgoing: ReaderProtocol.largestChunk + 8)

    /// The library that the process has loaded.
    let library: ImageLibrary?

    /// Starts the program at `path`; returns before it is ready.
    init(running path: String, library: ImageLibrary? = nil) throws(HelperFailure) {
        self.library = library
        helper = try HelperProcess(
            running: path, argument: library?.rawValue, limits: ReaderConnection.limits,
            timeout: ReaderConnection.startTimeout)
    }

    /// Whether the process is reading an image.
    var isBusy: Bool {
        if case .none = task { false } else { true }
    }

    /// Gives the process an image to read within `timeout`.
    ///
    /// - Returns: whether the process accepted the image; a process that has ended, has sent an
    ///   unexpected frame or has a different library accepts none.
    func take(
        _ source: any PictureSource, index: Int, timeout: Duration
    ) throws(HelperFailure) -> Bool {
        precondition(!isBusy, "one picture at a time")
        guard source.library == library else { return false }
        if helper.isReady {
            guard case .wouldWait = try receive() else {
                isSpent = true
                return false
            }
            helper.restartTimeout(timeout)
        }
        pictureTimeout = timeout
        pictureCount += 1
        self.index = index
        task = .sending(source)
        return true
    }

    /// The descriptors to wait for before ``advance()`` can make progress.
    var interests: [Polling.Interest] {
        var interests = [helper.readable]
        if awaitsSource, case .sending(let source) = task, let interest = source.interest {
            interests.append(interest)
        }
        if helper.isReady, helper.hasUnsent { interests.append(helper.writable) }
        return interests
    }

    /// The time that the process has left; `nil` while the image's source has nothing to read
    /// yet.
    var remainingTime: Duration? { awaitsSource ? nil : helper.remainingTime }

    /// Does everything that is possible without waiting; returns the answer once it has arrived.
    ///
    /// - Throws: if the process is not a working reader, whatever the image.
    func advance() throws(HelperFailure) -> PictureAnswer? {
        while true {
            switch try receive() {
            case .greeting(let frame):
                try greet(frame)
                continue
            case .frame(let frame): return finish(try answer(in: frame))
            case .ended: return try lost()
            case .malformed: return try distrust()
            case .wouldWait: break
            }
            guard helper.isReady else { return nil }
            if helper.hasUnsent {
                switch try flush() {
                case .moved: break
                case .wouldWait: return nil
                case .ended: return try lost()
                }
                continue
            }
            helper.removeOutgoing()
            switch task {
            case .none, .awaitingAnswer: return nil
            case .dropping(let refusal): return finish(PictureAnswer(refused: refusal))
            case .sending(let source): guard continueReading(source) else { return nil }
            }
        }
    }

    /// Counts the time `waited`; returns the image's refusal once the timeout has expired.
    func countWait(_ waited: Duration) throws(HelperFailure) -> PictureAnswer? {
        guard isBusy, !awaitsSource else { return nil }
        helper.countWait(waited)
        guard helper.remainingTime == .zero else { return nil }
        let (ending, _) = helper.end()
        isSpent = true
        guard helper.isReady else { throw .died(ending) }
        return finish(PictureAnswer(refused: .lost(.timedOut)))
    }
}

extension ReaderConnection {
    private func receive() throws(HelperFailure) -> HelperProcess.Received {
        try HelperFailure.system(in: helper.receive())
    }

    private func flush() throws(HelperFailure) -> FileDescriptor.Progress {
        try HelperFailure.system(in: helper.flush())
    }

    private func greet(_ frame: WipedBuffer) throws(HelperFailure) {
        switch frame.withBytes({
            HelperGreeting(parsing: $0, from: ReaderProtocol.identity)
        }) {
        case .confined: helper.restartTimeout(pictureTimeout)
        case .notConfined(let failure): throw .notConfined(failure)
        case .unexpected: throw .otherVersion
        }
    }

    /// Reads the next chunk of the image; returns false if the source has nothing to read yet.
    private func continueReading(_ source: any PictureSource) -> Bool {
        awaitsSource = false
        switch source.nextChunk(into: helper.outgoing) {
        case .chunk: break
        case .end: task = .awaitingAnswer
        case .wouldWait: awaitsSource = true
        case .refused(let refusal):
            helper.outgoing.append(ReaderProtocol.dropped.littleEndianBytes)
            task = .dropping(refusal)
        }
        return !awaitsSource
    }

    private func answer(in frame: WipedBuffer) throws(HelperFailure) -> PictureAnswer {
        // An answer that arrives before the whole image has been sent is invalid.
        guard case .awaitingAnswer = task, !helper.hasUnsent else { return try distrust() }
        do throws(FieldReader.Unreadable) { return try PictureAnswer(parsing: frame) } catch {
            return try distrust()
        }
    }

    /// Ends a process that broke the protocol.
    private func distrust() throws(HelperFailure) -> PictureAnswer {
        helper.end()
        isSpent = true
        guard helper.isReady else { throw .otherVersion }
        return finish(PictureAnswer(refused: .lost(.badResponse)))
    }

    /// Ends a process that has closed its pipe, and reports why it stopped.
    private func lost() throws(HelperFailure) -> PictureAnswer {
        let (ending, peakMemory) = helper.end()
        isSpent = true
        guard helper.isReady else { throw .died(ending) }
        return finish(
            PictureAnswer(
                refused: .lost(
                    HelperLoss(
                        ending: ending, peakMemory: peakMemory, limits: ReaderLoop.limits))))
    }

    private func finish(_ answer: PictureAnswer) -> PictureAnswer {
        task = .none
        awaitsSource = false
        helper.removeOutgoing()
        return answer
    }
}
