/// A column of a row: its name, its type and its value.
///
/// A row's list of columns is the only place that defines them: statements, arguments and the
/// authentication code are derived from this list.
package struct Column<Row>: Sendable {
    package let name: String
    package let type: ColumnType
    /// The schema step that added the column to its table; `nil` if the table was created with the
    /// column.
    package let step: Int?
    /// The value as a database stores it.
    package let storedValue: @Sendable (Row) -> StoredValue
    /// Adds the value to the bytes that the row's authentication code covers.
    let authenticate: @Sendable (Row, inout ByteWriter) -> Void

    init<Value: ColumnValue>(_ name: String, _ value: @escaping @Sendable (Row) -> Value) {
        self.init(name, value) { row, writer in value(row).write(into: &writer) }
    }

    /// A column that a schema step added to its table.
    ///
    /// If the value is NULL, as in every row from before the step, it adds nothing to the bytes
    /// that the authentication code covers, so stored codes stay valid. Any other value adds the
    /// column's name and the value, after all columns with which the table was created. The
    /// encoding of each part includes its end, so different rows have different bytes. Without the
    /// key, an attacker therefore cannot set, change or remove the value, move it to another
    /// column, or hide it by removing the column and undoing the step.
    init<Value: ColumnValue>(
        _ name: String, since step: Int, _ value: @escaping @Sendable (Row) -> Value?
    ) {
        self.init(name, since: step, value) { row, writer in
            guard let value = value(row) else { return }
            writer.write(name)
            value.write(into: &writer)
        }
    }

    private init<Value: ColumnValue>(
        _ name: String, since step: Int? = nil, _ value: @escaping @Sendable (Row) -> Value,
        authenticate: @escaping @Sendable (Row, inout ByteWriter) -> Void
    ) {
        self.name = name
        self.step = step
        type = Value.columnType
        storedValue = { value($0).storedValue }
        self.authenticate = authenticate
    }

    /// A column that has a value if and only if the previous column has one.
    ///
    /// The flag of the previous column tells the authentication code whether this column has a
    /// value.
    static func besidePrevious<Value: ColumnValue>(
        _ name: String, _ value: @escaping @Sendable (Row) -> Value?
    ) -> Column {
        Column(name, value) { row, writer in value(row)?.write(into: &writer) }
    }
}

/// The type of a column in a database.
package enum ColumnType: Sendable {
    /// A signed integer of 64 bits.
    case integer
    case bytes
    /// Text in UTF-8 that this program chose, never a person.
    case text
}

/// A value as a database stores it.
package enum StoredValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// Bytes; in a column of text, UTF-8.
    case bytes([UInt8])
}

/// A row whose columns are defined in a single list.
package protocol ColumnRow: StoredRow {
    /// The columns in their order in statements.
    ///
    /// The first one is the primary key. The authentication code, which covers all columns, follows
    /// in a separate column. Released columns keep their order, because stored codes depend on it.
    static var columns: [Column<Self>] { get }
    /// The schema step that created the table.
    static var step: Int { get }

    /// Reads the columns in the same order.
    init(reading row: inout RowReader) throws(StoreFailure)
}

extension ColumnRow {
    package static var step: Int { 1 }

    /// The name of the table, followed by every column; the columns of later steps come last.
    public var authenticatedBytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.table)
        for column in Self.columns where column.step == nil { column.authenticate(self, &writer) }
        for column in Self.columns where column.step != nil { column.authenticate(self, &writer) }
        return writer.bytes
    }
}

/// A value that is stored in one column.
package protocol ColumnValue: Sendable {
    static var columnType: ColumnType { get }
    /// The value as a database stores it.
    var storedValue: StoredValue { get }
    /// Accepts a value that ``storedValue`` returns, and returns `nil` for any other value.
    init?(stored: StoredValue)
    /// Writes the value into the bytes that a row's authentication code covers.
    func write(into writer: inout ByteWriter)
}

extension [UInt8]: ColumnValue {
    package static var columnType: ColumnType { .bytes }
    package var storedValue: StoredValue { .bytes(self) }
    package init?(stored: StoredValue) {
        guard case .bytes(let bytes) = stored else { return nil }
        self = bytes
    }
    package func write(into writer: inout ByteWriter) { writer.write(self) }
}

// A text that a person chooses is stored as bytes: no collation applies to bytes.
extension String: ColumnValue {
    package static var columnType: ColumnType { .bytes }
    package var storedValue: StoredValue { .bytes(Array(utf8)) }
    package init?(stored: StoredValue) {
        guard case .bytes(let bytes) = stored else { return nil }
        self.init(validating: bytes, as: UTF8.self)
    }
    package func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension ColumnValue where Self: FixedWidthInteger {
    package static var columnType: ColumnType { .integer }
    /// A column holds 63 bits without a sign.
    ///
    /// NULL represents a larger number, which a database refuses.
    package var storedValue: StoredValue { Int64(exactly: self).map(StoredValue.integer) ?? .null }
    package init?(stored: StoredValue) {
        guard case .integer(let number) = stored else { return nil }
        self.init(exactly: number)
    }
    package func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension Int: ColumnValue {}
extension Int64: ColumnValue {}
extension UInt64: ColumnValue {}

extension UnixTime: ColumnValue {
    package static var columnType: ColumnType { .integer }
    package var storedValue: StoredValue { .integer(milliseconds) }
    package init?(stored: StoredValue) {
        guard case .integer(let number) = stored else { return nil }
        self.init(milliseconds: number)
    }
    package func write(into writer: inout ByteWriter) { writer.write(self) }
}

extension KeyID: ColumnValue {
    package static var columnType: ColumnType { .integer }
    package var storedValue: StoredValue { .integer(Int64(number)) }
    package init?(stored: StoredValue) {
        guard case .integer(let value) = stored, let number = UInt32(exactly: value) else {
            return nil
        }
        self.init(number)
    }
    package func write(into writer: inout ByteWriter) { writer.write(number) }
}

extension PrefixedID: ColumnValue {
    package static var columnType: ColumnType { .bytes }
    package var storedValue: StoredValue { .bytes(bytes) }
    package init?(stored: StoredValue) {
        guard case .bytes(let bytes) = stored else { return nil }
        self.init(bytes: bytes)
    }
    package func write(into writer: inout ByteWriter) { writer.write(bytes) }
}

extension Subject: ColumnValue {
    package static var columnType: ColumnType { .bytes }
    package var storedValue: StoredValue { .bytes(utf8) }
    package init?(stored: StoredValue) {
        guard case .bytes(let utf8) = stored else { return nil }
        self.init(utf8: utf8)
    }
    package func write(into writer: inout ByteWriter) { writer.write(utf8) }
}

extension SubjectPrefix: ColumnValue {
    package static var columnType: ColumnType { .bytes }
    package var storedValue: StoredValue { .bytes(utf8) }
    package init?(stored: StoredValue) {
        guard case .bytes(let utf8) = stored else { return nil }
        self.init(utf8: utf8)
    }
    package func write(into writer: inout ByteWriter) { writer.write(utf8) }
}

extension ColumnValue where Self: RawRepresentable<String> {
    package static var columnType: ColumnType { .text }
    package var storedValue: StoredValue { rawValue.storedValue }
    package init?(stored: StoredValue) {
        guard let text = String(stored: stored) else { return nil }
        self.init(rawValue: text)
    }
    package func write(into writer: inout ByteWriter) { writer.write(rawValue) }
}

extension CredentialKind: ColumnValue {}
extension CredentialState: ColumnValue {}
extension TicketRow.Purpose: ColumnValue {}
extension ChallengeRow.Purpose: ColumnValue {}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    package static var columnType: ColumnType { Wrapped.columnType }
    package var storedValue: StoredValue {
        switch self {
        case .none: .null
        case .some(let value): value.storedValue
        }
    }
    package init?(stored: StoredValue) {
        if case .null = stored {
            self = .none
        } else {
            guard let value = Wrapped(stored: stored) else { return nil }
            self = .some(value)
        }
    }
    package func write(into writer: inout ByteWriter) {
        writer.writeOptional(self) { $1.write(into: &$0) }
    }
}

/// Several texts in one column: each is preceded by its length in bytes.
package struct TextList: ColumnValue {
    package let texts: [String]

    package init(_ texts: [String]) { self.texts = texts }

    package static var columnType: ColumnType { .bytes }

    package var bytes: [UInt8] {
        texts.flatMap { text in
            let count = UInt32(text.utf8.count)
            return (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + text.utf8
        }
    }

    package var storedValue: StoredValue { .bytes(bytes) }

    package init?(stored: StoredValue) {
        guard case .bytes(let bytes) = stored else { return nil }
        var texts: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count,
                let text = String(validating: rest.prefix(count), as: UTF8.self)
            else { return nil }
            texts.append(text)
            rest = rest.dropFirst(count)
        }
        self.texts = texts
    }

    package func write(into writer: inout ByteWriter) {
        writer.write(UInt16(texts.count))
        for text in texts { writer.write(text) }
    }
}
