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
        var cursor = Cursor()
        for expected in ReaderProtocol.mark {
            guard cursor.byte(of: bytes) == expected else { return nil }
        }
        guard let version = cursor.byte(of: bytes) else { return nil }
        guard version == ReaderProtocol.version else {
            self = .otherVersion
            return
        }
        switch cursor.byte(of: bytes) {
        case 0:
            self = .confined
        case 1:
            guard let number = cursor.number(width: 4, of: bytes), let call = cursor.word(of: bytes)
            else { return nil }
            let failure = SystemCallFailure(
                call: call, number: Int32(truncatingIfNeeded: number))
            self = .notConfined(failure)
        default:
            return nil
        }
        guard cursor.isAtEnd(of: bytes) else { return nil }
    }
}
