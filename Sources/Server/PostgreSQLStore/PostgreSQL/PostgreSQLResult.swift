internal import CPostgreSQL
internal import SQLStore
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

    var rows: PostgreSQLRows { PostgreSQLRows(self, 0..<count) }

    /// Every row, decoded by `read`.
    func all<Row>(
        _ read: (inout RowReader) throws(StoreFailure) -> Row
    ) throws(StoreFailure) -> [Row] { try rows.all(read) }

    /// The first row, decoded by `read`; `nil` if there is none.
    func first<Row>(
        _ read: (inout RowReader) throws(StoreFailure) -> Row
    ) throws(StoreFailure) -> Row? { try rows.first(read) }

    /// The only column of the first row; `nil` if there is no row.
    func first<Value: ColumnValue>() throws(StoreFailure) -> Value? { try rows.first() }

    /// A value in the server's binary format; `nil` for NULL.
    private func value<Value>(
        _ row: Int32, _ column: Int32, _ read: (UnsafeRawBufferPointer) -> Value
    ) -> Value? {
        guard unsafe PQgetisnull(handle, row, column) == 0,
            let start = unsafe PQgetvalue(handle, row, column)
        else { return nil }
        let length = Int(unsafe PQgetlength(handle, row, column))
        return unsafe read(UnsafeRawBufferPointer(start: start, count: length))
    }
}

extension PostgreSQLResult: QueryResult {
    var invalidRow: StoreFailure { .invalidRow }

    func bytes(_ row: Int32, _ column: Int32) -> [UInt8]? {
        unsafe value(row, column) { unsafe [UInt8]($0) }
    }

    /// An integer of two, four or eight bytes, or NULL.
    func integer(_ row: Int32, _ column: Int32) throws(StoreFailure) -> Int64? {
        let number = unsafe value(row, column) { bytes -> Int64? in
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
}

/// Consecutive rows of a result: all rows of one of the readers that share the result.
struct PostgreSQLRows {
    private let result: PostgreSQLResult
    private let range: Range<Int>
    /// The column where each row's data begins.
    private let firstColumn: Int

    fileprivate init(_ result: PostgreSQLResult, _ range: Range<Int>, from firstColumn: Int = 0) {
        self.result = result
        self.range = range
        self.firstColumn = firstColumn
    }

    /// A row, read column by column.
    func row(_ index: Int) -> RowReader {
        RowReader(result, row: Int32(range.lowerBound + index), from: Int32(firstColumn))
    }

    /// Every row, decoded by `read`.
    func all<Row>(
        _ read: (inout RowReader) throws(StoreFailure) -> Row
    ) throws(StoreFailure) -> [Row] {
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
        _ read: (inout RowReader) throws(StoreFailure) -> Row
    ) throws(StoreFailure) -> Row? {
        guard !range.isEmpty else { return nil }
        var row = row(0)
        return try read(&row)
    }

    /// The only column of the first row; `nil` if there is no row.
    func first<Value: ColumnValue>() throws(StoreFailure) -> Value? {
        try first { row throws(StoreFailure) in try row.read() }
    }

    /// Splits the rows among `count` readers, by the number, counted from 1, in each row's first
    /// column.
    ///
    /// - Throws: ``StoreFailure/invalidRow`` if the rows are not ordered by that number.
    func split(among count: Int) throws(StoreFailure) -> [PostgreSQLRows] {
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

extension RowReader {
    /// The next column, which must be a Boolean.
    mutating func requiredFlag() throws(StoreFailure) -> Bool {
        switch try requiredBytes() {
        case [0]: false
        case [1]: true
        default: throw .invalidRow
        }
    }
}

/// A command that the server refused; it contains none of the command's data.
struct RefusedCommand {
    /// The server's five-character SQLSTATE, or `connection` if libpq has none.
    let failure: StoreFailure
    /// Whether the connection is also lost; it is then unknown whether pending commands took
    /// effect.
    let endsConnection: Bool
    /// The table whose constraint was violated.
    let table: String
    /// The server's detail message, read only for this program's own error codes.
    let detail: String

    /// Reads the error from the server's result.
    init(_ result: borrowing PostgreSQLResult) {
        // FATAL and PANIC also end the connection.
        let severity = result.field(UInt8(ascii: "V"))
        let code = result.field(UInt8(ascii: "C")) ?? ""
        failure = code.isEmpty ? .broken : StoreFailure(sqlState: code)
        endsConnection = severity == "FATAL" || severity == "PANIC" || code.isEmpty
        table = result.field(UInt8(ascii: "t")) ?? ""
        detail = code.hasPrefix("WW") ? result.field(UInt8(ascii: "D")) ?? "" : ""
    }
}

extension StoreFailure {
    /// Classifies the server's SQLSTATE for the operator (PostgreSQL manual, appendix A).
    init(sqlState code: String) {
        let kind: FailureKind =
            switch code {
            case "53100": .full
            // A read-only transaction, or a role without the right to write.
            case "25006", "42501": .readOnly
            case _ where Self.transientCodes.contains(code) || Self.busyCodes.contains(code): .busy
            // Violated constraints that no change's condition covers, values that do not fit their
            // column, missing tables, and unreadable pages.
            case _ where ["22", "23", "42", "XX"].contains { code.hasPrefix($0) }: .damaged
            default: .unavailable
            }
        self.init(kind, code: code)
    }

    /// A serialisation failure, and a deadlock.
    private static let transientCodes = ["40001", "40P01"]
    /// A lock was not granted in time, or a statement timed out.
    private static let busyCodes = ["55P03", "57014", "25P03"]

    /// Whether a retry may succeed.
    var isTransient: Bool { Self.transientCodes.contains(code) }

    /// Whether a lock was not granted in time or a statement timed out.
    var isTimeout: Bool { Self.busyCodes.contains(code) }

    /// Whether a uniqueness constraint was violated.
    var isUniqueness: Bool { code == "23505" }

    /// Whether a single row may have caused the error.
    var isOfOneMember: Bool {
        ["22", "23", "54"].contains { code.hasPrefix($0) } || code == "53100"
    }

    /// The server did not answer in time.
    static let timedOut = StoreFailure(.unavailable, code: "timeout")
    /// The connection broke or could not be opened.
    static let broken = StoreFailure(.unavailable, code: "connection")
    /// The command could not be sent, for example if memory ran out.
    static let notSent = StoreFailure(.unavailable, code: "send")
    /// A row that this program cannot have written.
    static let invalidRow = row
    /// A number that does not fit its column.
    static let outOfRange = StoreFailure(sqlState: "22003")
    /// The tables belong to another version.
    static let newer = StoreFailure(.newer, code: "newer")
    /// Commits are waiting for a standby that does not respond.
    static let standby = StoreFailure(.unavailable, code: "standby")
    /// This machine's clock differs from the database's.
    static let clock = StoreFailure(.unavailable, code: "clock-differs")
    /// The transaction was committed, but may not survive a failover.
    static let unconfirmed = StoreFailure(.unavailable, code: "unconfirmed")
}
