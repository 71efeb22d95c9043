internal import OneTimePassword
package import WatchwordSystem

extension EntryContent: Transferable {
    package func write(to output: FrameWriter) {
        output.append(issuer)
        output.append(account)
        let (traits, payload) = (traits, payload)
        output.append(upTo: EntryTraits.room) { traits.write(to: &$0) }
        output.append(UInt64(payload.contentSize), bytes: 4)
        output.append(upTo: payload.contentSize) { payload.write(to: &$0) }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let issuer: String = try fields.value(bytes)
        let account: String = try fields.value(bytes)
        let traits = try EntryTraits(reading: &fields, in: bytes)
        let range = try fields.string(bytes, limit: TransferLimits.string)
        let payload = try RecordPayload(
            content: bytes.extracting(range), kind: traits.kind, limit: TransferLimits.string,
            mostParameters: TransferLimits.parts)
        let content = EntryContent(issuer: issuer, account: account, traits, payload)
        guard let content else { throw FieldReader.Unreadable() }
        self = content
    }
}

extension EntryDetails: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: room) { write(to: &$0) }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        try self.init(
            reading: &fields, in: bytes, limit: TransferLimits.string,
            mostTags: TransferLimits.parts)
    }
}
