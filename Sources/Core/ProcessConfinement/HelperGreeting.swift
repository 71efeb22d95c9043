public import WatchwordSystem

/// The first frame of a helper that confines itself: which program it is, and whether it is
/// confined.
public enum HelperGreeting: Hashable, Sendable {
    case confined
    case notConfined(SystemCallFailure)
    /// It is not the greeting of the expected program and version.
    case unexpected

    /// Which program a helper is.
    public struct Identity: Hashable, Sendable {
        private let mark: ShortWord
        private let version: UInt8

        /// Creates an identity from the protocol's mark and version.
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

    /// Parses a frame.
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
