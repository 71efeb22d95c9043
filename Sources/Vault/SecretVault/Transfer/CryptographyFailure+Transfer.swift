package import WatchwordCryptography
package import WatchwordSystem

extension CryptographyFailure: Transferable {
    package func write(to output: FrameWriter) {
        output.append(position: call)
        output.append(UInt64(code), bytes: 8)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            call: try fields.choiceByPosition(bytes),
            code: UInt(try fields.number(bytes, width: 8)))
    }
}
