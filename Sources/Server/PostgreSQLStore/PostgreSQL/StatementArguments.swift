/// A statement's arguments in the server's binary format, one after the other.
struct StatementArguments: Sendable {
    /// The type of an array's elements.
    enum Element: UInt32 {
        // The types' OIDs, which never change (pg_type.dat).
        case bytes = 17
        case integer64 = 20
        case integer32 = 23
        case text = 25
    }

    /// The bytes of all arguments.
    private(set) var bytes: [UInt8] = []
    /// Each argument's start in ``bytes`` and its length; a negative length is NULL.
    private(set) var places: [(start: Int, count: Int)] = []

    static let none = StatementArguments()

    /// Adds an integer or NULL.
    mutating func add(_ value: Int64?) {
        guard let value else { return addNull() }
        argument { $0.write(value) }
    }

    /// Adds bytes or, as UTF-8, text.
    mutating func add(_ value: [UInt8]) { argument { $0.bytes += value } }

    /// Adds an array with bytes or NULL for each row.
    mutating func add<Row>(
        _ rows: [Row], _ element: Element = .bytes, _ column: (Row) -> [UInt8]?
    ) {
        array(rows, element) { arguments, row in
            guard let value = column(row) else { return arguments.write(Int32(-1)) }
            arguments.write(Int32(truncatingIfNeeded: value.count))
            arguments.bytes += value
        }
    }

    /// Adds an array with a text for each row.
    mutating func add<Row>(_ rows: [Row], text column: (Row) -> String) {
        array(rows, .text) { arguments, row in
            let value = column(row).utf8
            arguments.write(Int32(truncatingIfNeeded: value.count))
            arguments.bytes += value
        }
    }

    /// Adds an array with an integer or NULL for each row.
    mutating func add<Row>(_ rows: [Row], integer column: (Row) -> Int64?) {
        array(rows, .integer64) { arguments, row in
            guard let value = column(row) else { return arguments.write(Int32(-1)) }
            arguments.write(Int32(8))
            arguments.write(value)
        }
    }

    /// Adds an array of the members' numbers in the batch.
    mutating func add<Row>(_ rows: [Row], member column: (Row) -> Int) {
        array(rows, .integer32) { arguments, row in
            arguments.write(Int32(4))
            arguments.write(Int32(truncatingIfNeeded: column(row)))
        }
    }

    /// Adds the array 1, 2, …, `count`: the indexes of another array's values.
    mutating func addPlaces(_ count: Int) { add(Array(0..<count), member: { $0 + 1 }) }

    private mutating func addNull() { places.append((bytes.count, -1)) }

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
