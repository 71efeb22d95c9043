import StoreContract
import Testing

@testable import Verification

/// A row whose table gained two columns; one of the two precedes an earlier column.
private struct ExtendedRow: ColumnRow, Hashable {
    var id: [UInt8]
    var note: [UInt8]?
    var model: String?
    var place: [UInt8]?

    static let table = "rows"
    static let columns: [Column<ExtendedRow>] = [
        Column("id") { $0.id },
        Column("model", since: 3) { $0.model },
        Column("note") { $0.note },
        Column("place", since: 4) { $0.place },
    ]

    var primaryKey: [UInt8] { id }
}

extension ExtendedRow {
    init(reading row: inout RowReader) throws(StoreFailure) {
        id = try row.read()
        model = try row.read()
        note = try row.read()
        place = try row.read()
    }
}

/// Columns that a schema step adds to a table with stored rows.
@Suite("Later columns")
struct LaterColumnTests {
    private static let key = StoreKeys.known.auditKey

    /// Values of columns, including the bytes that the code covers for values of other columns.
    private static let values: [[UInt8]?] = [
        nil, [], [0], [1], Array("model".utf8), Array("place".utf8),
        [0, 5] + Array("model".utf8) + [0, 0], [0, 5] + Array("place".utf8) + [0, 0],
        [0, 0, 5] + Array("place".utf8) + [0, 0],
    ]

    /// Every combination of the values, as a row.
    private static let rows: [ExtendedRow] = values.compactMap(\.self).flatMap { id in
        values.flatMap { note in
            values.flatMap { model in
                values.map { place in
                    ExtendedRow(
                        id: id, note: note,
                        model: model.map { String(decoding: $0, as: UTF8.self) },
                        place: place)
                }
            }
        }
    }

    @Test("a stored row without a value in a later column keeps its authentication code")
    func unchanged() {
        for row in Self.rows where row.model == nil && row.place == nil {
            var writer = ByteWriter()
            writer.write("rows")
            row.id.write(into: &writer)
            row.note.write(into: &writer)
            #expect(row.authenticatedBytes == writer.bytes, "\(row)")
        }
    }

    @Test("a row is not authentic if a later column's value was changed, moved or removed")
    func changed() throws {
        let row = ExtendedRow(id: [1], note: [2], model: "a", place: Array("b".utf8))
        let code = Self.key.code(of: row)
        #expect(Self.key.isAuthentic(row, by: code))
        let changes: [(inout ExtendedRow) -> Void] = [
            { $0.model = "b" }, { $0.model = "" }, { $0.model = nil }, { $0.place = nil },
            { ($0.model, $0.place) = ("b", Array("a".utf8)) },
            { ($0.model, $0.place) = (nil, Array("a".utf8)) },
            { ($0.model, $0.place) = (nil, nil) },
        ]
        for (number, change) in changes.enumerated() {
            var changed = row
            change(&changed)
            #expect(!Self.key.isAuthentic(changed, by: code), "change \(number)")
        }
    }

    @Test("a credential's next row keeps the value of every column")
    func kept() async throws {
        let fixture = try VerifierFixture()
        let pending = try await fixture.enrol()
        var row = try #require(await fixture.store.credential(pending.credential))
        // Each column needs a value here, because a record that lost a column would write NULL.
        row.fingerprint = sampleBytes(1, count: 32)
        let next = try CredentialRecord(row).row
        row.version += 1
        for column in CredentialRow.columns {
            #expect(column.storedValue(row) != .null, "\(column.name)")
            #expect(column.storedValue(next) == column.storedValue(row), "\(column.name)")
        }
    }

    @Test("no two rows have the same authenticated bytes")
    func distinct() {
        let bytes = Set(Self.rows.map(\.authenticatedBytes))
        #expect(Set(Self.rows).count == Self.rows.count)
        #expect(bytes.count == Self.rows.count)
    }

    @Test("the values of later columns follow all other values, each after its column's name")
    func encoding() {
        let row = ExtendedRow(id: [7], note: nil, model: "a", place: [8, 9])
        var expected: [UInt8] = [0, 4] + Array("rows".utf8) + [0, 1, 7, 0]
        expected += [0, 5] + Array("model".utf8) + [0, 1] + Array("a".utf8)
        expected += [0, 5] + Array("place".utf8) + [0, 2, 8, 9]
        #expect(row.authenticatedBytes == expected)
    }
}
