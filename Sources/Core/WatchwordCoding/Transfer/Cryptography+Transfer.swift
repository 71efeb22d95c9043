package import WatchwordCryptography
package import WatchwordSystem

extension SecretBytes: Transferable {
    package func write(to output: FrameWriter) {
        withBytes { output.append(string: $0) }
    }

    package convenience init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Unreadable) {
        let range = try fields.string(bytes, limit: TransferLimits.string)
        self.init(copying: bytes.extracting(range))
    }
}

extension HashAlgorithm: Transferable {}

extension FieldReader {
    /// Reads a secret of at most `limit` bytes.
    package mutating func secret(
        _ bytes: Span<UInt8>, limit: Int
    ) throws(Unreadable) -> SecretBytes {
        SecretBytes(copying: bytes.extracting(try string(bytes, limit: limit)))
    }
}
