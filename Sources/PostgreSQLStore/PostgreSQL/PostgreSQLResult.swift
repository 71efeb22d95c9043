internal import CPostgreSQL

/// What a command came to; frees itself.
///
/// One thread uses it.
@safe final class PostgreSQLResult {
    private let handle: OpaquePointer

    /// Takes over what libpq handed out.
    @unsafe init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQclear(handle) }

    var status: ExecStatusType { unsafe PQresultStatus(handle) }

    /// How many rows there are.
    var count: Int { Int(unsafe PQntuples(handle)) }

    /// How many rows the command changed.
    var changed: Int {
        guard let count = unsafe PQcmdTuples(handle) else { return 0 }
        return Int(unsafe String(cString: count)) ?? 0
    }

    /// A field of an error, by its letter in the protocol.
    func field(_ letter: UInt8) -> String? {
        guard let text = unsafe PQresultErrorField(handle, Int32(letter)) else { return nil }
        return unsafe String(cString: text)
    }

    /// A row, to be read column by column.
    func row(_ index: Int) -> PostgreSQLRow { rows.row(index) }

    /// All rows.
    var rows: PostgreSQLRows { PostgreSQLRows(self, 0..<count) }

    /// Every row, as `read` takes them.
    func all<Row>(
        _ read: (inout PostgreSQLRow) throws(PostgreSQLFailure) -> Row
    ) throws(PostgreSQLFailure) -> [Row] { try rows.all(read) }

    /// The first row, as `read` takes it; nothing when there is none.
    func first<Row>(
        _ read: (inout PostgreSQLRow) throws(PostgreSQLFailure) -> Row
    ) throws(PostgreSQLFailure) -> Row? { try rows.first(read) }

    /// A value as the server's binary form has it; nothing for NULL.
    fileprivate func value<Value>(
        _ row: Int32, _ column: Int32, _ read: (UnsafeRawBufferPointer) -> Value
    ) -> Value? {
        guard unsafe PQgetisnull(handle, row, column) == 0,
            let start = unsafe PQgetvalue(handle, row, column)
        else { return nil }
        let length = Int(unsafe PQgetlength(handle, row, column))
        return unsafe read(UnsafeRawBufferPointer(start: start, count: length))
    }
}

/// Some of a result's rows, one behind the other: all that one asked for who shares it with others.
struct PostgreSQLRows {
    private let result: PostgreSQLResult
    private let range: Range<Int>
    /// Where each row's reading begins.
    private let firstColumn: Int

    fileprivate init(_ result: PostgreSQLResult, _ range: Range<Int>, from firstColumn: Int = 0) {
        self.result = result
        self.range = range
        self.firstColumn = firstColumn
    }

    /// A row, to be read column by column.
    func row(_ index: Int) -> PostgreSQLRow {
        PostgreSQLRow(result, Int32(range.lowerBound + index), from: Int32(firstColumn))
    }

    /// Every row, as `read` takes them.
    func all<Row>(
        _ read: (inout PostgreSQLRow) throws(PostgreSQLFailure) -> Row
    ) throws(PostgreSQLFailure) -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(range.count)
        for index in 0..<range.count {
            var row = row(index)
            rows.append(try read(&row))
        }
        return rows
    }

    /// The first row, as `read` takes it; nothing when there is none.
    func first<Row>(
        _ read: (inout PostgreSQLRow) throws(PostgreSQLFailure) -> Row
    ) throws(PostgreSQLFailure) -> Row? {
        guard !range.isEmpty else { return nil }
        var row = row(0)
        return try read(&row)
    }

    /// The rows of each of so many who share them, by the number from 1 on that stands in front of each.
    ///
    /// - Throws: ``PostgreSQLFailure/strangeRow`` when they do not come in the order of the numbers.
    func split(among count: Int) throws(PostgreSQLFailure) -> [PostgreSQLRows] {
        var parts: [PostgreSQLRows] = []
        parts.reserveCapacity(count)
        var (start, next) = (range.lowerBound, range.lowerBound)
        for number in 1...Int64(count) {
            while next < range.upperBound {
                var row = row(next - range.lowerBound)
                let found = try row.requiredInteger()
                guard found >= number else { throw .strangeRow }
                guard found == number else { break }
                next += 1
            }
            parts.append(PostgreSQLRows(result, start..<next, from: firstColumn + 1))
            start = next
        }
        guard next == range.upperBound else { throw .strangeRow }
        return parts
    }
}

/// A row that is read from the left to the right, its columns in binary form.
struct PostgreSQLRow {
    private let result: PostgreSQLResult
    private let row: Int32
    private var column: Int32

    fileprivate init(_ result: PostgreSQLResult, _ row: Int32, from column: Int32) {
        self.result = result
        self.row = row
        self.column = column
    }

    /// The next column, a run of bytes or nothing; a text is given as its UTF-8.
    mutating func bytes() -> [UInt8]? {
        defer { column += 1 }
        return unsafe result.value(row, column) { unsafe [UInt8]($0) }
    }

    /// The next column, a number of two, four or eight bytes or nothing.
    mutating func integer() throws(PostgreSQLFailure) -> Int64? {
        defer { column += 1 }
        let number = unsafe result.value(row, column) { bytes -> Int64? in
            guard [2, 4, 8].contains(bytes.count), let first = unsafe bytes.first else {
                return nil
            }
            let start = Int64(Int8(bitPattern: first))
            return unsafe bytes.dropFirst().reduce(start) { $0 << 8 | Int64($1) }
        }
        guard let number else { return nil }
        guard let number else { throw .strangeRow }
        return number
    }

    /// The next column, which must be a run of bytes.
    mutating func requiredBytes() throws(PostgreSQLFailure) -> [UInt8] {
        guard let value = bytes() else { throw .strangeRow }
        return value
    }

    /// The next column, which must be a number.
    mutating func requiredInteger() throws(PostgreSQLFailure) -> Int64 {
        guard let value = try integer() else { throw .strangeRow }
        return value
    }

    /// The next column, which must be a truth value.
    mutating func requiredFlag() throws(PostgreSQLFailure) -> Bool {
        switch try requiredBytes() {
        case [0]: false
        case [1]: true
        default: throw .strangeRow
        }
    }

    /// The next column, which must be a text.
    mutating func requiredText() throws(PostgreSQLFailure) -> String {
        guard let text = String(validating: try requiredBytes(), as: UTF8.self) else {
            throw .strangeRow
        }
        return text
    }
}
