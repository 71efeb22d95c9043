package import Cryptography
package import POSIX

extension SystemCallFailure: Transferable {
    package func write(to output: FrameWriter) {
        let call = ShortWord.bytes(of: call)
        output.append(UInt8(call.count))
        for byte in call { output.append(byte) }
        output.append(UInt64(UInt32(bitPattern: number)), bytes: 4)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let call = try fields.word(bytes)
        let number = UInt32(truncatingIfNeeded: try fields.number(bytes, width: 4))
        self.init(call: call, number: Int32(bitPattern: number))
    }
}

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
