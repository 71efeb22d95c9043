public import ProcessConfinement
public import WatchwordCryptography
public import WatchwordSystem

/// The outcome for a file that may be an export.
public enum ExportOutcome: Sendable {
    /// The file is an export.
    case export(Export)
    /// The file is not an export, or could not be read.
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
    /// Whether the process has answered, and can read the file again with a password.
    private var awaitsPassword = false

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - path: The program; by default the one next to the running program, or else in the
    ///     installation folder.
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
        try awaitGreeting()
        helper.restartTimeout(timeout)
        for case (let kind, let content?) in parts
        where 1...ExportProtocol.largestPart ~= content.count {
            if let loss = try send(kind, content) { return .lost(loss) }
        }
        if let loss = try send(.file, source.file) { return .lost(loss) }
        return try awaitAnswer()
    }

    /// Reads the file again with a password, after an answer that asked for one.
    public func read(
        password: SecretBytes
    ) throws(HelperFailure) -> ExportOutcome {
        guard password.count <= ExportProtocol.longestPassword, awaitsPassword else {
            return .lost(.noResponse)
        }
        awaitsPassword = false
        helper.restartTimeout(timeout)
        // A frame that arrives before the request is not an answer to it.
        guard case .wouldWait = try HelperFailure.system(in: helper.receive())
        else { return .lost(ended(.badResponse)) }
        let loss = try password.withBytes { bytes throws(HelperFailure) in try send(bytes) }
        if let loss { return .lost(loss) }
        return try awaitAnswer()
    }
}

extension ExportProcess {
    /// Waits for the first frame.
    ///
    /// A process that ends or misbehaves before its first frame could not read any other file
    /// either, so this throws.
    private func awaitGreeting() throws(HelperFailure) {
        switch try receive() {
        case .greeting(let frame)?:
            switch frame.withBytes({
                HelperGreeting(parsing: $0, from: ExportProtocol.identity)
            }) {
            case .confined: return
            case .notConfined(let failure): throw .notConfined(failure)
            case .unexpected: throw .otherVersion
            }
        case .frame?, .malformed?, .wouldWait?: throw .otherVersion
        case .ended?, nil: throw .died(helper.end().0)
        }
    }

    private func awaitAnswer() throws(HelperFailure) -> ExportOutcome {
        switch try receive() {
        case .frame(let frame)?:
            switch frame.value(as: ExportAnswer.self) {
            case .export(let export)?:
                awaitsPassword = true
                return .export(export)
            case .refused(let error)?:
                awaitsPassword = true
                return .refused(error)
            case nil: return .lost(ended(.badResponse))
            }
        case .ended?: return .lost(lost())
        case .greeting?, .malformed?, .wouldWait?: return .lost(ended(.badResponse))
        case nil: return .lost(ended(.timedOut))
        }
    }

    /// Waits for the next frame; returns `nil` once the timeout has expired.
    private func receive() throws(HelperFailure) -> HelperProcess.Received? {
        while true {
            let received = try HelperFailure.system(in: helper.receive())
            guard case .wouldWait = received else { return received }
            guard try wait(for: helper.readable) else { return nil }
        }
    }

    /// Sends a part of the file.
    ///
    /// - Returns: why the file is lost; `nil` if everything was sent.
    private func send(
        _ kind: ExportPart, _ content: SecretBytes
    ) throws(HelperFailure) -> HelperLoss? {
        if let loss = try send([kind.rawValue].span) { return loss }
        return try content.withBytes { bytes throws(HelperFailure) in
            var start = 0
            while start < bytes.count {
                let end = min(start + ExportProtocol.largestChunk, bytes.count)
                if let loss = try send(bytes.extracting(start..<end)) { return loss }
                start = end
            }
            return try send(bytes.extracting(0..<0))
        }
    }

    /// Sends the count of `bytes` and the bytes.
    private func send(_ bytes: Span<UInt8>) throws(HelperFailure) -> HelperLoss? {
        helper.outgoing.append(UInt32(bytes.count).littleEndianBytes)
        helper.outgoing.append { output in output.append(copying: bytes) }
        defer { helper.removeOutgoing() }
        while true {
            switch try HelperFailure.system(in: helper.flush()) {
            case .moved: return nil
            case .wouldWait:
                guard try wait(for: helper.writable) else { return ended(.timedOut) }
            case .ended: return lost()
            }
        }
    }

    /// Waits until `interest` may be ready; returns `false` once the timeout has expired.
    private func wait(for interest: Polling.Interest) throws(HelperFailure) -> Bool {
        guard helper.remainingTime > .zero else { return false }
        try HelperFailure.system(in: helper.wait(for: interest))
        return true
    }

    /// Ends a process that violated the protocol or took too long.
    private func ended(_ loss: HelperLoss) -> HelperLoss {
        helper.end()
        return loss
    }

    /// Finds out how a process that closed its pipe has ended.
    private func lost() -> HelperLoss {
        let (ending, peakMemory) = helper.end()
        return HelperLoss(
            ending: ending, peakMemory: peakMemory, limits: Confinement.Limits(limits))
    }
}

// The protocol between `watchword` and `watchword-exports`. A count of bytes is little-endian, as
// in every frame.
//
// exports → watchword, once:  frame: a ``HelperGreeting``
// watchword → exports, once:  parts; the file is the last one
// exports → watchword, each:  frame: an ``ExportAnswer``
// watchword → exports, each:  a password: count (4 bytes) and the bytes; the file is read again
// A part is a chunk with one byte, an ``ExportPart``, chunks with the content, and a count of 0; a
// chunk is its count of bytes (4 bytes) and the bytes, and so is a frame. Nothing is sent
// unsolicited.
//
// With the argument "raised-limits" the program accepts larger files and costlier encryption.

/// The parts that are sent to the reader.
enum ExportPart: UInt8 {
    case file, name, manifest, keyFile
}

/// The limits that both ends observe.
enum ExportProtocol {
    static let identity = HelperGreeting.Identity(mark: "WWX", version: 3)
    static let raisedLimits = "raised-limits"
    /// The maximum size of a chunk of a file, in bytes.
    static let largestChunk = 1 << 16
    /// The maximum size of a part other than the file, in bytes.
    static let largestPart = 1 << 20
    static let longestPassword = 1 << 12
    static let mostWarnings = 1_000
    static let mostTags = 10_000
}
