@testable import ExportReading
import Exports
import TestSupport
import Testing
import WatchwordCryptography

@Suite("Hostile databases")
struct HostileDatabaseTests {
    private static let google = "CREATE TABLE accounts (email TEXT, secret TEXT, type INTEGER"
    private static let row = "INSERT INTO accounts VALUES ('Acme:ann', 'AAISEM2EKVTHPCEZ', 0"

    @Test("triggers, views, virtual tables and indexes have no effect")
    func schema() throws {
        let file = try MadeDatabase.file(
            """
            \(Self.google)); \(Self.row));
            CREATE INDEX i ON accounts (hex(secret));
            CREATE VIEW v AS SELECT * FROM accounts;
            CREATE TRIGGER t AFTER INSERT ON accounts BEGIN DELETE FROM accounts; END;
            CREATE VIRTUAL TABLE f USING fts5(a);
            """)
        let found = try read(file)
        #expect(found.format == .googleAuthenticator)
        #expect(found.entries.count == 1)
        let database = try SQLiteDatabase(SecretBytes(copying: file.span))
        #expect(database.table(named: "v") == nil)
        #expect(database.table(named: "f") == nil)
        #expect(throws: ContainerError.damaged) {
            try database.rows(of: "sqlite_master", columns: ["sql"])
        }
    }

    @Test("a view or a virtual table in place of a table is not read")
    func replacedTable() throws {
        for script in [
            "CREATE VIEW accounts AS SELECT 'a' AS email, 'b' AS secret",
            "CREATE VIRTUAL TABLE accounts USING fts5(email, secret)",
        ] {
            #expect(throws: ExportError.unknownFormat) { try read(MadeDatabase.file(script)) }
        }
    }

    @Test("a generated column is never computed")
    func generatedColumn() throws {
        let file = try MadeDatabase.file(
            """
            CREATE TABLE accounts (email TEXT, type INTEGER,
                secret TEXT AS (hex(zeroblob(400000000 + type))));
            INSERT INTO accounts VALUES ('a', 0);
            """)
        let reading = try ConfinedReading(file, mebibytes: 256)
        #expect(reading.status == 0)
        #expect(reading.answer == "unknownFormat")
        #expect(reading.duration < .seconds(20))
    }

    @Test("quotation marks are read as part of a name")
    func quotedNames() throws {
        let file = try MadeDatabase.file(
            #"CREATE TABLE "a""; DROP" ("x""y" TEXT); INSERT INTO "a""; DROP" VALUES ('v')"#)
        let database = try SQLiteDatabase(SecretBytes(copying: file.span))
        let rows = try database.rows(of: #"a"; DROP"#, columns: [#"x"y"#])
        guard case .text(let value) = rows.first?[#"x"y"#], value.text == "v" else {
            Issue.record("no text")
            return
        }
    }

    @Test("values and rows over the limits are refused; other columns may have any length")
    func limits() throws {
        let other = try MadeDatabase.file(
            "\(Self.google), icon BLOB); \(Self.row), zeroblob(3000000));")
        #expect(try read(other).entries.count == 1)
        let long = try read(
            try MadeDatabase.file(
                "\(Self.google)); \(Self.row)); "
                    + "INSERT INTO accounts VALUES ('long', hex(zeroblob(600000)), 0)"))
        #expect(long.entries.count == 1)
        #expect(long.refusals == [ExportRefusal(row: 2, account: "long", reason: .tooLong)])
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20001)"
        let many = try MadeDatabase.file(
            "\(Self.google)); INSERT INTO accounts \(numbers) SELECT 'a', 'AAAAAAAA', 0 FROM n")
        #expect(
            throws: ExportError.overLimit(
                .googleAuthenticator, .rows, found: 20_001, allowed: 20_000)
        ) {
            try read(many)
        }
    }

    @Test("databases in UTF-16 or WAL mode are read")
    func encodings() throws {
        var file = try MadeDatabase.file(
            "PRAGMA encoding = 'UTF-16be'; \(Self.google)); \(Self.row));")
        file[18] = 2
        file[19] = 2
        let reading = try ConfinedReading(file)
        #expect(reading.status == 0)
        #expect(reading.answer == "googleAuthenticator: 1 entries, 0 refused")
    }

    /// A database with three levels of pages for the schema and for the table.
    private static func large() throws -> [UInt8] {
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)"
        let tables = (0..<300).map { "CREATE TABLE t\($0) (a, b, c);" }.joined()
        return try MadeDatabase.file(
            """
            PRAGMA page_size = 512; \(tables) \(google));
            INSERT INTO accounts \(numbers) SELECT 'Acme:ann' || i, 'AAISEM2EKVTHPCEZ', 0 FROM n;
            """)
    }

    @Test("pages that refer to each other in a loop are refused or read in time")
    func loops() throws {
        let file = try Self.large()
        let pageCount = file.count / 512
        var looped = 0
        for page in 0..<pageCount {
            let header = page * 512 + (page == 0 ? 100 : 0)
            // In an interior page of a table, make every child the root, or the page itself.
            guard file[header] == 5 else { continue }
            looped += 1
            for target in [UInt8(1), UInt8(truncatingIfNeeded: page + 1)] {
                var changed = file
                let cells = Int(changed[header + 3]) << 8 | Int(changed[header + 4])
                let pointer = [0, 0, target == 1 ? 0 : UInt8((page + 1) >> 8), target]
                changed.replaceSubrange(header + 8..<header + 12, with: pointer)
                for cell in 0..<cells {
                    let place = header + 12 + 2 * cell
                    let start = page * 512 + Int(changed[place]) << 8 | Int(changed[place + 1])
                    guard start + 4 <= changed.count else { continue }
                    changed.replaceSubrange(start..<start + 4, with: pointer)
                }
                let reading = try ConfinedReading(changed, mebibytes: 256)
                #expect(reading.status == 0)
                #expect(
                    ["damaged", "unknownFormat", "overLimit", "googleAuthenticator"]
                        .contains { reading.answer.hasPrefix($0) }, "\(reading.answer)")
                #expect(reading.duration < .seconds(25))
            }
            if looped == 6 { break }
        }
        #expect(looped >= 2)
    }

    @Test("a database with a changed byte is refused or read within 15 seconds")
    func changes() throws {
        let file = try MadeDatabase.file("PRAGMA page_size = 512; \(Self.google)); \(Self.row));")
        for index in file.indices {
            for value in [UInt8(0), 0xFF, file[index] ^ 1] {
                var changed = file
                changed[index] = value
                let start = ContinuousClock.now
                do {
                    #expect(try read(changed).entries.count <= 1)
                } catch {
                }
                #expect(.now - start < .seconds(15))
            }
        }
        for count in stride(from: 0, to: file.count, by: 64) {
            #expect(throws: ExportError.self) { try read(Array(file[..<count])) }
        }
    }
}
