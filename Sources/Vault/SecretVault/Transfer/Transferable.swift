package import WatchwordSystem

extension TransferLimits {
    /// The maximum number of small parts of one entry, such as tags: each takes more memory than it
    /// has bytes.
    package static let parts = 1 << 10
    /// The maximum number of entries that one edit adds: as many as a vault can have.
    package static let entries = VaultLimits.entries
}

extension FieldReader {
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
