internal import CPostgreSQL
internal import Verification

/// The result of a command, freed on deinitialisation.
///
/// Use it from one thread only.
@safe final class PostgreSQLResult {
    private let handle: OpaquePointer

    /// Takes ownership of libpq's result.
    @unsafe init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQclear(handle) }

    var status: ExecStatusType { unsafe PQresultStatus(handle) }

    /// The number of rows.
    var count: Int { Int(unsafe PQntuples(handle)) }

    /// The number of rows that the command changed.
    var changed: Int {
        guard let count = unsafe PQcmdTuples(handle) else { return 0 }
        return Int(unsafe String(cString: count)) ?? 0
    }

    /// A field of an error, by its letter in the protocol.
    func field(_ letter: UInt8) -> String? {
        guard let text = unsafe PQresultErrorField(handle, Int32(letter)) else { return nil }
        return unsafe String(cString: text)
    }

    /// A row, read column by column.
    func row(_ index: Int) -> PostgreSQLRow { rows.row(index) }

    var rows: PostgreSQLRows { PostgreSQLRows(self, 0..<count) }

    /// Every row, decoded by `read`.
    func all<Row>(
        _ read: (inout PostgreSQLRow) throws(PostgreSQLFailure) -> Row
    ) throws(PostgreSQLFailure) -> [Row] { try rows.all(read) }

    /// The first row, decoded by `read`; `nil` if there is none.
    func first<Row>(
        _ read: (inout PostgreSQLRow) throws(PostgreSQLFailure) -> Row
    ) throws(PostgreSQLFailure) -> Row? { try rows.first(read) }

    /// A value in the server's binary format; `nil` for NULL.
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

/// Consecutive rows of a result: all those that belong to one of the readers that share the result.
struct PostgreSQLRows {
    private let result: PostgreSQLResult
    private let range: Range<Int>
    /// The column at which each row's data begins.
    private let firstColumn: Int

    fileprivate init(_ result: PostgreSQLResult, _ range: Range<Int>, from firstColumn: Int = 0) {
        self.result = result
        self.range = range
        self.firstColumn = firstColumn
    }

    /// A row, read column by column.
    func row(_ index: Int) -> PostgreSQLRow {
        PostgreSQLRow(result, Int32(range.lowerBound + index), from: Int32(firstColumn))
    }

    /// Every row, decoded by `read`.
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

    /// The first row, decoded by `read`; `nil` if there is none.
    func first<Row>(
        _ read: (inout PostgreSQLRow) throws(PostgreSQLFailure) -> Row
    ) throws(PostgreSQLFailure) -> Row? {
        guard !range.isEmpty else { return nil }
        var row = row(0)
        return try read(&row)
    }

    /// Splits the rows among `count` readers, by the number, counted from 1, in each row's first
    /// column.
    ///
    /// - Throws: ``PostgreSQLFailure/invalidRow`` if the rows are not ordered by that number.
    func split(among count: Int) throws(PostgreSQLFailure) -> [PostgreSQLRows] {
        var parts: [PostgreSQLRows] = []
        parts.reserveCapacity(count)
        var (start, next) = (range.lowerBound, range.lowerBound)
        for number in 1...Int64(count) {
            while next < range.upperBound {
                var row = row(next - range.lowerBound)
                let found = try row.requiredInteger()
                guard found >= number else { throw .invalidRow }
                guard found == number else { break }
                next += 1
            }
            parts.append(PostgreSQLRows(result, start..<next, from: firstColumn + 1))
            start = next
        }
        guard next == range.upperBound else { throw .invalidRow }
        return parts
    }
}

/// A row that is read from left to right, its columns in binary format.
struct PostgreSQLRow: RowReader {
    typealias Failure = PostgreSQLFailure

    private let result: PostgreSQLResult
    private let row: Int32
    private var column: Int32

    fileprivate init(_ result: PostgreSQLResult, _ row: Int32, from column: Int32) {
        self.result = result
        self.row = row
        self.column = column
    }

    /// The next column: bytes or NULL; text is returned as UTF-8.
    mutating func bytes() -> [UInt8]? {
        defer { column += 1 }
        return unsafe result.value(row, column) { unsafe [UInt8]($0) }
    }

    /// The next column: an integer of two, four or eight bytes, or NULL.
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
        guard let number else { throw .invalidRow }
        return number
    }

    /// The next column, which must be a Boolean.
    mutating func requiredFlag() throws(PostgreSQLFailure) -> Bool {
        switch try requiredBytes() {
        case [0]: false
        case [1]: true
        default: throw .invalidRow
        }
    }
}
