internal import WatchwordCryptography
package import WatchwordSystem

extension EntrySummary: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id, accessControl, tombstone, hasVanished)
        output.append(upTo: properties.room) { properties.write(to: &$0) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            id: try fields.value(bytes), accessControl: try fields.value(bytes),
            tombstone: try fields.value(bytes), hasVanished: try fields.value(bytes),
            properties: try EntryProperties(reading: &fields, in: bytes, formerSave: nil))
    }
}

extension RecordID: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: RecordID.count) { $0.append(copying: bytes.span) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(bytes.extracting(try fields.take(RecordID.count, of: bytes)))
    }
}

extension EntryName: Transferable {
    package func write(to output: FrameWriter) { output.append(issuer, account) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(issuer:account:), from: bytes)
    }
}

// As in the vault file.
extension Tombstone: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: Tombstone.room) { write(to: &$0) }
    }
}

extension Tombstone.Reason: Transferable {}
extension EntryKind: Transferable {}
