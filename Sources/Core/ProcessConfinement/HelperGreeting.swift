public import WatchwordSystem

/// The first frame of a helper that confines itself: which program it is, and whether it is
/// confined.
///
/// The program's identity, then 0 if it is confined; otherwise 1, the error number (4 bytes) and
/// the name of the system call that failed. Numbers are little-endian.
public enum HelperGreeting: Hashable, Sendable {
    case confined
    case notConfined(SystemCallFailure)
    /// It is not the greeting of the expected program and version.
    case unexpected

    /// Which program a helper is.
    public struct Identity: Hashable, Sendable {
        /// The protocol's mark and version.
        let bytes: [UInt8]

        /// Creates an identity from the protocol's mark and version.
        public init(mark: String, version: UInt8) { bytes = Array(mark.utf8) + [version] }
    }

    /// The maximum size of a greeting, in bytes.
    public static let maximumCount = 64

    /// The encoded frame.
    package func bytes(from program: Identity) -> [UInt8] {
        switch self {
        case .confined: return program.bytes + [0]
        case .notConfined(let failure):
            let call = ShortWord.bytes(of: failure.call)
            return program.bytes + [1] + UInt32(bitPattern: failure.number).littleEndianBytes
                + [UInt8(call.count)] + call
        case .unexpected: return []
        }
    }

    /// Parses a frame.
    public init(parsing bytes: Span<UInt8>, from program: Identity) {
        do { try self.init(reading: bytes, from: program) } catch { self = .unexpected }
    }

    private init(
        reading bytes: Span<UInt8>, from program: Identity
    ) throws(FieldReader.Unreadable) {
        var fields = FieldReader(.littleEndian)
        for expected in program.bytes {
            guard try fields.byte(bytes) == expected else { throw FieldReader.Unreadable() }
        }
        switch try fields.byte(bytes) {
        case 0:
            self = .confined
        case 1:
            let number = try fields.number(bytes, width: 4)
            let failure = SystemCallFailure(
                call: try fields.word(bytes), number: Int32(truncatingIfNeeded: number))
            self = .notConfined(failure)
        default:
            throw FieldReader.Unreadable()
        }
        try fields.finish(bytes)
    }
}
