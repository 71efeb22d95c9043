internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

/// The members of a JSON object that a file needs to be decrypted: each must exist.
struct ContainerFields {
    private let object: JSONValue?
    private let format: ExportFormat

    init(_ object: JSONValue?, _ format: ExportFormat) {
        self.object = object
        self.format = format
    }

    /// The members of a nested object.
    func fields(_ name: String) throws(ExportError) -> ContainerFields {
        guard let value = object?[name], value.members != nil else { throw .damaged(format) }
        return ContainerFields(value, format)
    }

    /// A whole number that is not negative.
    func number(_ name: String) throws(ExportError) -> UInt64 {
        guard let number = object?[name]?.wholeNumber else { throw .damaged(format) }
        return number
    }

    func text(_ name: String) throws(ExportError) -> SecretBytes {
        guard let text = object?[name]?.secretText else { throw .damaged(format) }
        return text
    }

    /// The bytes that a text in Base64 encodes.
    func base64(_ name: String, count: Int? = nil) throws(ExportError) -> SecretBytes {
        try checked(try text(name).decodedBase64(), count)
    }

    /// The bytes that hexadecimal digits encode.
    func hex(_ name: String, count: Int? = nil) throws(ExportError) -> SecretBytes {
        try checked(try text(name).decodedHex(), count)
    }

    private func checked(_ bytes: SecretBytes?, _ count: Int?) throws(ExportError) -> SecretBytes {
        guard let bytes, count == nil || bytes.count == count else { throw .damaged(format) }
        return bytes
    }
}

/// Reads the parts of a binary file in order.
struct BinaryParts {
    private let file: SecretBytes
    private let format: ExportFormat
    private var reader: FieldReader

    init(_ file: SecretBytes, _ format: ExportFormat, _ order: FieldReader.ByteOrder = .bigEndian) {
        self.file = file
        self.format = format
        reader = FieldReader(order)
    }

    /// How many bytes were read.
    var position: Int { reader.position }

    var remaining: Int { file.count - reader.position }

    /// The next `count` bytes.
    mutating func take(_ count: Int) throws(ExportError) -> SecretBytes {
        try read { reader, bytes throws(FieldReader.Unreadable) in
            let range = try reader.take(count, of: bytes)
            return SecretBytes(copying: bytes.extracting(range))
        }
    }

    mutating func rest() throws(ExportError) -> SecretBytes { try take(remaining) }

    /// The next number of `width` bytes.
    mutating func number(width: Int) throws(ExportError) -> UInt64 {
        try read { reader, bytes throws(FieldReader.Unreadable) in
            try reader.number(bytes, width: width)
        }
    }

    /// The next four-byte number: a count of at most the bytes that are left.
    mutating func count() throws(ExportError) -> Int {
        let count = try number(width: 4)
        guard count <= UInt64(remaining) else { throw .damaged(format) }
        return Int(count)
    }

    mutating func skip(_ count: Int) throws(ExportError) {
        _ = try read { reader, bytes throws(FieldReader.Unreadable) in
            try reader.take(count, of: bytes)
        }
    }

    private mutating func read<Value>(
        _ body: (inout FieldReader, Span<UInt8>) throws(FieldReader.Unreadable) -> Value
    ) throws(ExportError) -> Value {
        do {
            return try file.withBytes { bytes throws(FieldReader.Unreadable) in
                try body(&reader, bytes)
            }
        } catch {
            throw .damaged(format)
        }
    }
}
