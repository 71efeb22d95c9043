package import WatchwordSystem

extension RecordID: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: RecordID.count) { output in
            for byte in bytes { output.append(byte) }
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(bytes.extracting(try fields.take(RecordID.count, of: bytes)))
    }
}

extension Tombstone: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: Tombstone.room) { write(to: &$0) }
    }
}

extension AccessControl.Presence: Transferable {
    package func write(to output: FrameWriter) { output.append(word) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let word: String = try fields.value(bytes)
        guard let presence = AccessControl.Presence(where: { $0 == word }) else {
            throw FieldReader.Unreadable()
        }
        self = presence
    }
}

extension AccessControl.OnFailure: Transferable {
    // The number of failures that wipe the entry; 0 if none do.
    package func write(to output: FrameWriter) {
        switch self {
        case .lockOut: output.append(0 as UInt8)
        case .wipe(let count): output.append(UInt8(count.value))
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let number = Int(try fields.byte(bytes))
        guard number > 0 else {
            self = .lockOut
            return
        }
        guard let count = FailureCount(number) else { throw FieldReader.Unreadable() }
        self = .wipe(after: count)
    }
}

extension ReuseTime: Transferable {
    package func write(to output: FrameWriter) { output.append(UInt64(seconds), bytes: 2) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        guard let time = ReuseTime(Int(try fields.number(bytes, width: 2))) else {
            throw FieldReader.Unreadable()
        }
        self = time
    }
}

extension AccessControl: Transferable {
    package func write(to output: FrameWriter) {
        output.append(presence)
        output.append(onFailure)
        output.append(reuse)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let presence: Presence = try fields.value(bytes)
        let onFailure: OnFailure = try fields.value(bytes)
        let reuse: ReuseTime = try fields.value(bytes)
        guard presence.isPerUse || reuse == .none else { throw FieldReader.Unreadable() }
        self.init(presence: presence, onFailure: onFailure, reuse: reuse)
    }
}

extension AccessControlChange: Transferable {
    package func write(to output: FrameWriter) {
        output.append(optional: presence)
        output.append(optional: onFailure)
        output.append(optional: reuse)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            presence: try fields.optional(bytes), onFailure: try fields.optional(bytes),
            reuse: try fields.optional(bytes))
    }
}

extension EntrySummary: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id)
        output.append(accessControl)
        output.append(optional: tombstone)
        output.append(hasVanished)
        output.append(upTo: properties.room) { properties.write(to: &$0) }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            id: try fields.value(bytes), accessControl: try fields.value(bytes),
            tombstone: try fields.optional(bytes), hasVanished: try fields.flag(bytes),
            properties: try EntryProperties(reading: &fields, in: bytes, formerSave: nil))
    }
}
