internal import OneTimePassword
package import WatchwordSystem

// The parts have the encoding of the vault file.

extension EntryContent: Transferable {
    package func write(to output: FrameWriter) {
        let (traits, payload) = (traits, payload)
        output.append(issuer, account)
        output.append(upTo: EntryTraits.room) { traits.write(to: &$0) }
        output.append(UInt32(payload.contentSize))
        output.append(upTo: payload.contentSize) { payload.write(to: &$0) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let name: EntryName = try fields.value(bytes)
        let traits = try EntryTraits(reading: &fields, in: bytes)
        let range = try fields.string(bytes, limit: TransferLimits.string)
        let payload = try RecordPayload(
            content: bytes.extracting(range), kind: traits.kind, limit: TransferLimits.string,
            mostParameters: TransferLimits.parts)
        let content = EntryContent(issuer: name.issuer, account: name.account, traits, payload)
        guard let content else { throw Unreadable() }
        self = content
    }
}

extension EntryDetails: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: room) { write(to: &$0) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        try self.init(
            reading: &fields, in: bytes, limit: TransferLimits.string,
            mostTags: TransferLimits.parts)
    }
}

extension TransferLimits {
    /// The maximum number of small parts of one entry, such as tags: each takes more memory than it
    /// has bytes.
    package static let parts = 1 << 10
    /// The maximum number of entries that one edit adds: as many as a vault can have.
    package static let entries = VaultLimits.entries
}
