internal import POSIX

/// One reader process, and the picture that it has in hand.
final class ReaderConnection {
    /// Whether it is of no more use: it has ended, must not be believed any more, or has read enough.
    var isWorn: Bool { isSpent || pictureCount >= PictureReader.picturesPerProcess }

    /// Which of the caller's pictures it has, or had last, in hand.
    private(set) var index = 0
    private var pictureCount = 0
    private var isSpent = false

    private enum Task {
        case none
        case sending(PictureSource)
        /// The picture was given up half way; what is left is to say so.
        case dropping(PictureRefusal)
        case awaitingAnswer
    }

    private let child: ChildProcess
    private var incoming: IncomingFrame
    private var isGreeted = false
    private var task = Task.none
    private let outgoing: WipedBuffer
    private var sent = 0
    private var awaitsSource = false
    /// The time left for its current work.
    private var timeLeft: Duration
    /// The time that it has for the current picture, once it is ready.
    private var pictureTimeout = Duration.zero

    /// How long a reader may take to start.
    private static let startTimeout = Duration.seconds(30)

    /// Starts the program at `path`; returns before it is ready.
    init(running path: String) throws(PictureReaderFailure) {
        do throws(SystemCallFailure) {
            child = try ChildProcess(running: path)
        } catch {
            throw error.isMissingFile ? .notFound : .cannotStart(error)
        }
        do throws(SystemCallFailure) {
            incoming = try IncomingFrame(limit: ReaderProtocol.largestGreeting)
            outgoing = try WipedBuffer(capacity: ReaderProtocol.largestChunk + 8)
        } catch {
            throw .system(error)
        }
        timeLeft = ReaderConnection.startTimeout
    }

    /// Whether it has a picture in hand.
    var isBusy: Bool {
        if case .none = task { false } else { true }
    }

    /// Gives it a picture, for which it has `timeout`.
    ///
    /// - Returns: whether it took it; a process that has ended or spoken unasked takes none.
    func take(_ source: PictureSource, index: Int, timeout: Duration) throws(PictureReaderFailure)
        -> Bool
    {
        precondition(!isBusy, "one picture at a time")
        if isGreeted {
            guard case .wouldWait = try receive() else {
                isSpent = true
                return false
            }
        }
        pictureTimeout = timeout
        if isGreeted { timeLeft = timeout }
        pictureCount += 1
        self.index = index
        task = .sending(source)
        return true
    }

    /// What must happen for ``advance()`` to get on.
    var wishes: [Polling.Wish] {
        var wishes: [Polling.Wish] = [.reading(child.output)]
        if awaitsSource, case .sending(let source) = task { wishes.append(.reading(source.file)) }
        if isGreeted, sent < outgoing.count { wishes.append(.writing(child.input)) }
        return wishes
    }

    /// How long to wait for it; `nil` while it waits for us.
    var remainingTime: Duration? { awaitsSource ? nil : max(timeLeft, .zero) }

    /// Does what can be done without waiting; returns the answer when there is one.
    ///
    /// - Throws: when the process is no reader that works, whatever the picture.
    func advance() throws(PictureReaderFailure) -> PictureAnswer? {
        while true {
            switch try receive() {
            case .complete(let frame):
                if isGreeted { return finish(try answer(in: frame)) }
                try greet(frame)
                continue
            case .ended: return try lost()
            case .bad: return try distrust()
            case .wouldWait: break
            }
            guard isGreeted else { return nil }
            if sent < outgoing.count {
                switch try send() {
                case .moved(let count): sent += count
                case .wouldWait: return nil
                case .ended: return try lost()
                }
                continue
            }
            outgoing.removeAll()
            sent = 0
            switch task {
            case .none, .awaitingAnswer: return nil
            case .dropping(let refusal): return finish(PictureAnswer(refused: refusal))
            case .sending(let source): guard readOn(source) else { return nil }
            }
        }
    }

    /// Counts the time `waited`; returns the picture's refusal once the timeout has passed.
    func lapse(_ waited: Duration) throws(PictureReaderFailure) -> PictureAnswer? {
        guard isBusy, !awaitsSource else { return nil }
        timeLeft -= waited
        guard timeLeft <= .zero else { return nil }
        let (ending, _) = child.end()
        isSpent = true
        guard isGreeted else { throw .diedAtStart(ending) }
        return finish(PictureAnswer(refused: .timedOut))
    }
}

extension ReaderConnection {
    private func receive() throws(PictureReaderFailure) -> IncomingFrame.Progress {
        do throws(SystemCallFailure) {
            return try incoming.advance(from: child.output)
        } catch {
            throw .system(error)
        }
    }

    private func send() throws(PictureReaderFailure) -> FileDescriptor.Progress {
        do throws(SystemCallFailure) {
            return try outgoing.withBytes { bytes throws(SystemCallFailure) in
                try child.input.writeAvailable(bytes.extracting(sent..<bytes.count))
            }
        } catch {
            throw .system(error)
        }
    }

    /// Awaits an answer from now on.
    private func awaitAnswer() throws(PictureReaderFailure) {
        do throws(SystemCallFailure) {
            incoming = try IncomingFrame(limit: ReaderProtocol.largestAnswer)
        } catch {
            throw .system(error)
        }
    }

    private func greet(_ frame: WipedBuffer) throws(PictureReaderFailure) {
        switch frame.withBytes({ Greeting(parsing: $0) }) {
        case .confined: isGreeted = true
        case .notConfined(let failure): throw .notConfined(failure)
        case .otherVersion, nil: throw .otherVersion
        }
        timeLeft = pictureTimeout
        try awaitAnswer()
    }

    /// Fetches the next chunk of the picture; false when the source would make us wait.
    private func readOn(_ source: PictureSource) -> Bool {
        awaitsSource = false
        do throws(PictureRefusal) {
            switch try source.nextChunk(into: outgoing) {
            case .chunk: break
            case .end: task = .awaitingAnswer
            case .wouldWait: awaitsSource = true
            }
        } catch {
            append(ReaderProtocol.dropped, to: outgoing)
            task = .dropping(error)
        }
        return !awaitsSource
    }

    private func answer(in frame: WipedBuffer) throws(PictureReaderFailure) -> PictureAnswer {
        // An answer to half a picture is none.
        guard case .awaitingAnswer = task, sent == outgoing.count,
            let answer = PictureAnswer(parsing: frame)
        else { return try distrust() }
        try awaitAnswer()
        return answer
    }

    /// Ends a process that broke the rules.
    private func distrust() throws(PictureReaderFailure) -> PictureAnswer {
        child.end()
        isSpent = true
        guard isGreeted else { throw .otherVersion }
        return finish(PictureAnswer(refused: .badAnswer))
    }

    /// The process has closed its pipe: finds out how it ended.
    private func lost() throws(PictureReaderFailure) -> PictureAnswer {
        let (ending, peakMemory) = child.end()
        isSpent = true
        guard isGreeted else { throw .diedAtStart(ending) }
        return finish(
            PictureAnswer(refused: PictureRefusal(ending: ending, peakMemory: peakMemory)))
    }

    private func finish(_ answer: PictureAnswer) -> PictureAnswer {
        task = .none
        awaitsSource = false
        outgoing.removeAll()
        sent = 0
        return answer
    }
}
