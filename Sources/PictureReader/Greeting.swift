internal import POSIX

/// A reader's first frame: whether it is confined.
enum Greeting: Hashable {
    case confined
    case notConfined(SystemCallFailure)
    case otherVersion

    /// The encoded frame.
    var bytes: [UInt8] {
        var bytes = ReaderProtocol.mark + [ReaderProtocol.version]
        switch self {
        case .confined, .otherVersion:
            bytes.append(0)
        case .notConfined(let failure):
            let call = ReaderProtocol.word(failure.call)
            bytes.append(1)
            bytes += UInt32(bitPattern: failure.number).littleEndianBytes
            bytes += [UInt8(call.count)] + call
        }
        return bytes
    }

    /// Parses a frame; `nil` if it is not a greeting.
    init?(parsing bytes: Span<UInt8>) {
        do { try self.init(reading: bytes) } catch { return nil }
    }

    private init(reading bytes: Span<UInt8>) throws(FieldReader.Unreadable) {
        var fields = FieldReader(.littleEndian)
        for expected in ReaderProtocol.mark {
            guard try fields.byte(bytes) == expected else { throw FieldReader.Unreadable() }
        }
        guard try fields.byte(bytes) == ReaderProtocol.version else {
            self = .otherVersion
            return
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
