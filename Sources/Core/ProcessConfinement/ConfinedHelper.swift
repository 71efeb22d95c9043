public import WatchwordSystem

/// A helper process that gives up all privileges before it reads anything.
public enum ConfinedHelper {
    /// The program's exit statuses.
    enum Status {
        static let done: Int32 = 0
        static let badRequest: Int32 = 3
        static let failure: Int32 = 6
    }

    /// Confines the process, sends the greeting, calls `serve`, and ends.
    ///
    /// Everything that `serve` needs from the file system must already be loaded. If the process
    /// cannot be confined, it reports this and ends without calling `serve`.
    ///
    /// - Parameter runsLibraries: as in ``Confinement/enter(_:runsLibraries:)``.
    public static func run(
        as program: HelperGreeting.Identity, limits: Confinement.Limits,
        runsLibraries: Bool = false,
        serve: () throws(SystemCallFailure) -> Void
    ) -> Never {
        do throws(SystemCallFailure) {
            do throws(SystemCallFailure) {
                try Confinement.enter(limits, runsLibraries: runsLibraries)
            } catch {
                try send(HelperGreeting.frame(from: program, failure: error))
                ProcessEnd.atOnce(with: Status.failure)
            }
            try send(HelperGreeting.frame(from: program))
            try serve()
            ProcessEnd.atOnce(with: Status.done)
        } catch {
            // The failure cannot be reported.
            ProcessEnd.atOnce(with: Status.failure)
        }
    }

    /// Writes a response to standard output.
    public static func send(_ frame: FrameWriter) throws(SystemCallFailure) {
        try frame.write(to: StandardStream.output.rawValue)
    }

    /// Ends the process after a request that violates the protocol.
    public static func refuseRequest() -> Never { ProcessEnd.atOnce(with: Status.badRequest) }
}

/// Why a confined helper gave no valid response about a file; other files can still be read.
public enum HelperLoss: Hashable, Sendable {
    /// The helper crashed with this signal; the file may be hostile.
    case crashed(signal: Int32)
    /// The helper was killed for a forbidden system call (to open a file or a socket, for example).
    case forbiddenCall
    /// Reading took too long.
    case timedOut
    /// Reading needed more memory than the helper is allowed.
    case tooMuchMemory
    /// The helper's response violated the protocol; all of it was rejected.
    case badResponse
    /// The helper ended without a response, or in an unknown way.
    case noResponse

    /// The reason derived from how the helper ended.
    public init(ending: ChildProcess.Ending, peakMemory: Int, limits: Confinement.Limits) {
        let isLarge = peakMemory >= limits.addressSpace / 2
        self =
            switch ending {
            // Swift and the libraries crash when an allocation fails, and the kernel kills
            // processes when it runs out of memory. Whether that caused a given crash or kill can
            // only be guessed.
            case .crashed where isLarge, .killed where isLarge: .tooMuchMemory
            case .crashed(let signal): .crashed(signal: signal)
            case .forbiddenCall: .forbiddenCall
            case .processorTimeSpent: .timedOut
            case .exited, .killed, .unknown: .noResponse
            }
    }
}

/// The first frame of a helper that confines itself: which program it is, and whether it is
/// confined.
public enum HelperGreeting: Hashable, Sendable {
    case confined
    case notConfined(SystemCallFailure)
    /// The frame is not the greeting of the expected program and version.
    case unexpected

    /// Which program a helper is.
    public struct Identity: Hashable, Sendable {
        private let mark: ShortWord
        private let version: UInt8

        /// Identifies a program by its protocol's mark and version.
        public init(mark: String, version: UInt8) {
            self.mark = ShortWord(showing: mark)
            self.version = version
        }
    }

    /// The maximum size of a greeting, in bytes.
    public static let maximumCount = 80

    /// The frame from a program whose confinement succeeded, or failed as in `failure`.
    package static func frame(
        from program: Identity, failure: SystemCallFailure? = nil
    ) throws(SystemCallFailure) -> FrameWriter {
        let frame = try FrameWriter()
        frame.append(program, failure)
        return frame
    }

    /// Parses a frame; anything but a greeting of `program` is ``unexpected``.
    public init(parsing bytes: Span<UInt8>, from program: Identity) {
        do throws(FieldReader.Unreadable) {
            var fields = FieldReader(.bigEndian)
            let sender: Identity = try fields.value(bytes)
            let failure: SystemCallFailure? = try fields.value(bytes)
            try fields.finish(bytes)
            guard sender == program else { throw FieldReader.Unreadable() }
            self = failure.map(Self.notConfined) ?? .confined
        } catch {
            self = .unexpected
        }
    }
}

extension HelperGreeting.Identity: Transferable {
    package func write(to output: FrameWriter) { output.append(mark, version) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        mark = try fields.value(bytes)
        version = try fields.value(bytes)
    }
}
