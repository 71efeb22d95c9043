package import WatchwordSystem

extension EntryName: Transferable {
    package func write(to output: FrameWriter) {
        output.append(issuer)
        output.append(account)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(issuer: try fields.value(bytes), account: try fields.value(bytes))
    }
}
