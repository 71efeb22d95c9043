package import WatchwordSystem

extension AccessControl: Transferable {
    package func write(to output: FrameWriter) { output.append(presence, onFailure, reuse) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let presence: Presence = try fields.value(bytes)
        let onFailure: OnFailure = try fields.value(bytes)
        let reuse: ReuseTime = try fields.value(bytes)
        guard presence.isPerUse || reuse == .none else { throw Unreadable() }
        self.init(presence: presence, onFailure: onFailure, reuse: reuse)
    }
}

extension AccessControl.Presence: Transferable {
    package func write(to output: FrameWriter) { output.append(word) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let word: String = try fields.value(bytes)
        guard let presence = Self(where: { $0 == word }) else { throw Unreadable() }
        self = presence
    }
}

// The number of failures that wipe the entry; 0 if none do.
extension AccessControl.OnFailure: Transferable {
    package func write(to output: FrameWriter) {
        switch self {
        case .lockOut: output.append(0 as UInt8)
        case .wipe(let count): output.append(UInt8(count.value))
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let number = Int(try fields.byte(bytes))
        guard number > 0 else {
            self = .lockOut
            return
        }
        guard let count = FailureCount(number) else { throw Unreadable() }
        self = .wipe(after: count)
    }
}

extension ReuseTime: Transferable {
    package func write(to output: FrameWriter) { output.append(UInt16(seconds)) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make({ (seconds: UInt16) in Self(Int(seconds)) }, from: bytes)
    }
}

extension AccessControlChange: Transferable {
    package func write(to output: FrameWriter) { output.append(presence, onFailure, reuse) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}
