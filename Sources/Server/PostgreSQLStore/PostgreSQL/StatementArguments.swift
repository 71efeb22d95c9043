internal import Verification

/// A statement's arguments in the server's binary format, one after the other.
struct StatementArguments: Sendable {
    /// The bytes of all arguments.
    private(set) var bytes: [UInt8] = []
    /// Each argument's start in ``bytes`` and its length; a negative length is NULL.
    private(set) var places: [(start: Int, count: Int)] = []

    /// The types of arrays' elements, by their OIDs, which never change (pg_type.dat).
    private enum Element: UInt32 {
        case bytes = 17
        case integer64 = 20
        case integer32 = 23
        case text = 25

        init(_ type: ColumnType) {
            self =
                switch type {
                case .bytes: .bytes
                case .integer: .integer64
                case .text: .text
                }
        }
    }

    init(_ values: (any ColumnValue)...) { self.init(values.map(\.storedValue)) }

    init(_ values: [StoredValue]) { for value in values { add(value) } }

    mutating func add(_ value: StoredValue) {
        switch value {
        case .null: places.append((bytes.count, -1))
        case .integer(let number): argument { $0.write(number) }
        case .bytes(let run): argument { $0.bytes += run }
        }
    }

    /// Adds an array with a value for each row.
    mutating func add<Row, Value: ColumnValue>(_ rows: [Row], _ value: (Row) -> Value) {
        add(rows, as: Value.columnType) { value($0).storedValue }
    }

    /// Adds an array with a column's value for each row.
    mutating func add<Row>(_ rows: [Row], as type: ColumnType, _ value: (Row) -> StoredValue) {
        array(rows, Element(type)) { arguments, row in
            switch value(row) {
            case .null: arguments.write(Int32(-1))
            case .integer(let number):
                arguments.write(Int32(8))
                arguments.write(number)
            case .bytes(let run):
                arguments.write(Int32(truncatingIfNeeded: run.count))
                arguments.bytes += run
            }
        }
    }

    /// Adds an array with the members' numbers in the batch.
    mutating func addMembers<Row>(_ rows: [Row], _ member: (Row) -> Int) {
        array(rows, .integer32) { arguments, row in
            arguments.write(Int32(4))
            arguments.write(Int32(truncatingIfNeeded: member(row)))
        }
    }

    /// Adds the array 1, 2, …, `count`: the indexes of another array's values.
    mutating func addPlaces(_ count: Int) { addMembers(Array(0..<count)) { $0 + 1 } }

    private mutating func argument(_ write: (inout Self) -> Void) {
        let start = bytes.count
        write(&self)
        places.append((start, bytes.count - start))
    }

    // The binary format of an array: the number of dimensions, whether there are NULLs, the element
    // type; then the size and first index of each dimension.
    private mutating func array<Row>(
        _ rows: [Row], _ element: Element, _ write: (inout Self, Row) -> Void
    ) {
        argument { arguments in
            arguments.write(Int32(rows.isEmpty ? 0 : 1))
            arguments.write(Int32(1))
            arguments.write(Int32(truncatingIfNeeded: element.rawValue))
            guard !rows.isEmpty else { return }
            arguments.write(Int32(truncatingIfNeeded: rows.count))
            arguments.write(Int32(1))
            for row in rows { write(&arguments, row) }
        }
    }

    private mutating func write(_ number: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }
}
