public import ProcessConfinement
public import WatchwordCryptography
public import WatchwordSystem

/// The outcome for a file that may be an export.
public enum ExportOutcome: Sendable {
    /// The file is an export.
    case export(Export)
    /// The file is not an export, or is one that could not be read.
    case refused(ExportError)
    /// The process ended or its answer was rejected; other files can still be read.
    case lost(HelperLoss)
}

/// Reads one file, another app's export, with `watchword-exports`, a confined process.
///
/// The process is started for this file only, since it may learn the file's password. Everything
/// that it sends is checked, and no export is parsed on this side.
///
/// It must be used from one thread, which must outlive it: the kernel kills the process with that
/// thread.
public final class ExportProcess {
    /// How long a process may take to start.
    private static let startTimeout = Duration.seconds(30)
    private let limits: ExportLimits
    private let timeout: Duration
    private let helper: HelperProcess
    private var hasEnded = false

    /// Whether only this file cannot be read, or no file at all.
    private enum Loss: Error {
        case file(HelperLoss)
        case every(HelperFailure)
    }

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - path: The program; by default the one beside the running program or in the installation
    ///     folder.
    ///   - limits: ``ExportLimits/standard`` or ``ExportLimits/raised``.
    ///   - timeout: How long reading the file with one password may take; by default the time in
    ///     `limits`.
    public init(
        path: String? = nil, limits: ExportLimits = .standard, timeout: Duration? = nil
    ) throws(HelperFailure) {
        guard let path = path ?? RunningProgram.companion("watchword-exports") else {
            throw .notFound
        }
        self.limits = limits
        self.timeout = timeout ?? limits.time
        helper = try HelperProcess(
            running: path, argument: limits == .raised ? ExportProtocol.raisedLimits : nil,
            limits: HelperProcess.Limits(
                greeting: HelperGreeting.maximumCount, frame: limits.answer,
                outgoing: ExportProtocol.largestChunk + 8),
            timeout: ExportProcess.startTimeout)
    }

    /// Reads the file; called once.
    ///
    /// - Throws: ``HelperFailure`` if no file at all can be read.
    public func read(_ source: ExportSource) throws(HelperFailure) -> ExportOutcome {
        guard source.file.count <= limits.bytes else {
            return .refused(
                .overLimit(
                    nil, .fileSize, found: UInt64(source.file.count),
                    allowed: UInt64(limits.bytes)))
        }
        let parts: [(ExportPart, SecretBytes?)] = [
            (.name, SecretBytes(copying: Array(source.name.utf8).span)),
            (.manifest, source.manifest), (.keyFile, source.keyFile),
        ]
        return try outcome { () throws(Loss) in
            try awaitGreeting()
            helper.restartTimeout(timeout)
            for case (let kind, let content?) in parts
            where 1...ExportProtocol.largestPart ~= content.count {
                try send(kind, content)
            }
            try send(.file, source.file)
        }
    }

    /// Reads the file again with a password, after an answer that asked for one.
    public func read(
        password: SecretBytes
    ) throws(HelperFailure) -> ExportOutcome {
        guard password.count <= ExportProtocol.longestPassword, !hasEnded else {
            return .lost(.noAnswer)
        }
        return try outcome { () throws(Loss) in
            helper.restartTimeout(timeout)
            // A frame that arrives before the request is not an answer to it.
            guard
                case .wouldWait = try system({ () throws(SystemCallFailure) in
                    try helper.receive()
                })
            else { throw distrust() }
            try password.withBytes { bytes throws(Loss) in try send(bytes) }
        }
    }

    private func outcome(
        _ request: () throws(Loss) -> Void
    ) throws(HelperFailure) -> ExportOutcome {
        do throws(Loss) {
            try request()
            return try awaitAnswer()
        } catch {
            hasEnded = true
            switch error {
            case .file(let loss): return .lost(loss)
            case .every(let failure): throw failure
            }
        }
    }
}

extension ExportProcess {
    private func system<Result>(
        _ call: () throws(SystemCallFailure) -> Result
    ) throws(Loss) -> Result {
        do { return try call() } catch { throw .every(.system(error)) }
    }

    private func awaitGreeting() throws(Loss) {
        switch try receive() {
        case .greeting(let frame):
            switch frame.withBytes({
                HelperGreeting(parsing: $0, from: ExportProtocol.identity)
            }) {
            case .confined: return
            case .notConfined(let failure): throw .every(.notConfined(failure))
            case .unexpected: throw .every(.otherVersion)
            }
        case .frame, .malformed, .wouldWait: throw .every(.otherVersion)
        case .ended: throw lost()
        }
    }

    private func awaitAnswer() throws(Loss) -> ExportOutcome {
        switch try receive() {
        case .frame(let frame):
            switch frame.value(as: ExportAnswer.self) {
            case .export(let export): return .export(export)
            case .refused(let error): return .refused(error)
            case nil: throw distrust()
            }
        case .ended: throw lost()
        case .greeting, .malformed, .wouldWait: throw distrust()
        }
    }

    /// Waits for the next frame.
    private func receive() throws(Loss) -> HelperProcess.Received {
        while true {
            let received = try system { () throws(SystemCallFailure) in try helper.receive() }
            guard case .wouldWait = received else { return received }
            try wait(for: helper.readable)
        }
    }

    private func send(_ kind: ExportPart, _ content: SecretBytes) throws(Loss) {
        try send([kind.rawValue].span)
        try content.withBytes { bytes throws(Loss) in
            var start = 0
            while start < bytes.count {
                let end = min(start + ExportProtocol.largestChunk, bytes.count)
                try send(bytes.extracting(start..<end))
                start = end
            }
            try send(bytes.extracting(0..<0))
        }
    }

    /// Sends the count of `bytes` and the bytes.
    private func send(_ bytes: Span<UInt8>) throws(Loss) {
        helper.outgoing.append(UInt32(bytes.count).littleEndianBytes)
        helper.outgoing.append { output in output.append(copying: bytes) }
        defer { helper.removeOutgoing() }
        while true {
            switch try system({ () throws(SystemCallFailure) in try helper.flush() }) {
            case .moved: return
            case .wouldWait: try wait(for: helper.writable)
            case .ended: throw lost()
            }
        }
    }

    private func wait(for interest: Polling.Interest) throws(Loss) {
        guard helper.remainingTime > .zero else {
            let (ending, _) = helper.end()
            throw helper.isReady ? .file(.timedOut) : .every(.died(ending))
        }
        try system { () throws(SystemCallFailure) in try helper.wait(for: interest) }
    }

    /// Ends a process that violated the protocol.
    private func distrust() -> Loss {
        helper.end()
        return helper.isReady ? .file(.badAnswer) : .every(.otherVersion)
    }

    /// Finds out how a process that closed its pipe has ended.
    private func lost() -> Loss {
        let (ending, peakMemory) = helper.end()
        guard helper.isReady else { return .every(.died(ending)) }
        return .file(
            HelperLoss(ending: ending, peakMemory: peakMemory, limits: Confinement.Limits(limits)))
    }
}
