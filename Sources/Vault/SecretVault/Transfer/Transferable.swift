package import WatchwordSystem

/// A value that `watchword` and its agent send to each other.
///
/// Both have the same version, so the encoding is not a stable format. Numbers are big-endian, as in
/// the vault file. Reading allocates memory only in proportion to the number of bytes received.
package protocol Transferable {
    /// Appends the value.
    func write(to output: FrameWriter)

    /// Reads what ``write(to:)`` appends.
    ///
    /// This may accept values that the vault refuses, such as a name that is too long: the vault's
    /// error then states the reason.
    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(FieldReader.Unreadable)
}

extension Transferable {
    /// Reads a value that fills `bytes`.
    package init(parsing bytes: Span<UInt8>) throws(FieldReader.Unreadable) {
        var fields = FieldReader(.bigEndian)
        try self.init(reading: &fields, in: bytes)
        try fields.finish(bytes)
    }
}

/// The limits of a value that another process sends.
package enum TransferLimits {
    /// The maximum size of a text or secret in bytes.
    static let string = 1 << 20
    /// The maximum number of elements in a list.
    package static let elements = 1 << 20
    /// The maximum number of small parts of one entry, such as tags: each takes more memory than it
    /// has bytes.
    package static let parts = 1 << 10
    /// The maximum number of entries that one edit adds: as many as a vault can have.
    package static let entries = VaultLimits.entries
}

extension FieldReader {
    /// Reads a value.
    package mutating func value<Value: Transferable>(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> Value {
        try Value(reading: &self, in: bytes)
    }

    /// Reads a value that may be missing.
    package mutating func optional<Value: Transferable>(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> Value? {
        try flag(bytes) ? try value(bytes) : nil
    }

    /// Reads a list of at most `most` values.
    package mutating func values<Value: Transferable>(
        _ bytes: Span<UInt8>, most: Int = TransferLimits.elements
    ) throws(Unreadable) -> [Value] {
        try list(bytes, most: most) {
            (fields, bytes) throws(Unreadable) in try fields.value(bytes)
        }
    }

    /// Reads a number that fits an `Int`.
    package mutating func integer(_ bytes: Span<UInt8>) throws(Unreadable) -> Int {
        guard let number = Int(exactly: try signedNumber(bytes)) else { throw Unreadable() }
        return number
    }
}

extension String: Transferable {
    package func write(to output: FrameWriter) { output.append(text: self) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self = try fields.text(bytes, limit: TransferLimits.string)
    }
}

extension Int64: Transferable {
    package func write(to output: FrameWriter) { output.append(signed: self) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self = try fields.signedNumber(bytes)
    }
}

extension UInt64: Transferable {
    package func write(to output: FrameWriter) { output.append(self, bytes: 8) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self = try fields.number(bytes, width: 8)
    }
}
