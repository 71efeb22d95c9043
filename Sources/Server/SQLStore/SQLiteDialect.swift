package import Verification

/// The SQL of SQLite, which writes one row at a time.
package struct SQLiteDialect: Dialect {
    package let step: Int

    package init(step: Int = Self.steps.count) { self.step = step }

    package func argument(_ number: Int, _ type: ColumnType) -> String { "?\(number)" }

    package var emptyBytes: String { "x''" }

    package func isRevoked(_ wanted: Bool) -> String { "is_revoked = \(wanted ? 1 : 0)" }

    package func inserting<Row: ColumnRow>(_ rows: Row.Type) -> String {
        let values = (1...Row.writtenColumns.count).map { "?\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(Row.table) (\(Row.columnNames)) VALUES (\(values))"
    }

    package func updating<Row: ColumnRow>(_ rows: Row.Type) -> String {
        updating(rows) { _ in false }
    }

    /// The assignments to columns that are not compared.
    private func updating<Row: ColumnRow>(
        _ rows: Row.Type, comparing isCompared: (_ column: String) -> Bool
    ) -> String {
        var assignments: [String] = []
        var conditions = ["\(Row.keyName) = ?1"]
        for (number, (name, _)) in zip(2..., Row.writtenColumns.dropFirst()) {
            if name == "version" { conditions.append("version = ?\(number) - 1") }
            if isCompared(name) {
                // `IS` also matches NULL.
                conditions.append("\(name) IS ?\(number)")
            } else {
                assignments.append("\(name) = ?\(number)")
            }
        }
        return "UPDATE \(Row.table) SET \(assignments.joined(separator: ", ")) "
            + "WHERE \(conditions.joined(separator: " AND "))"
    }

    package func spending<Row: ColumnRow>(_ rows: Row.Type) -> String {
        "DELETE FROM \(Row.table) WHERE \(Row.keyName) = ?1"
    }

    package func isPassed(_ column: String) -> String { "\(column) = ?1" }

    package func pruning<Row: ColumnRow>(_ rows: Row.Type) -> String {
        let (table, key) = (Row.table, Row.keyName)
        return "DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM \(table) "
            + "WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"
    }

    package func dropping(_ count: Int, of column: String) -> String {
        "substr(\(column), \(count + 1))"
    }

    package func ownSQL(of statement: StoreStatement) -> String? {
        switch statement {
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .savepoint: "SAVEPOINT member"
        case .release: "RELEASE member"
        case .rollbackTo: "ROLLBACK TO member"
        case .requireCapacity:
            "SELECT count(*) < ?2 FROM (SELECT 1 FROM credentials "
                + "WHERE subject = ?1 AND is_revoked = 0 LIMIT ?2)"
        case .updateBody:
            // SQLite rewrites an index for every column that a statement sets, changed or not. The
            // columns that most decisions leave unchanged are therefore compared, not set.
            updating(CredentialRow.self) { column in
                !["version", "body", "authentication"].contains(column)
            }
        case .deleteAnswer: "DELETE FROM answers WHERE key = ?1"
        case .writeDummies:
            "INSERT INTO decoys VALUES (?1, ?2) ON CONFLICT DO UPDATE SET body = excluded.body"
        case .endLapsedAnswers: endingAnswers("credential IN \(Self.lapsed)")
        case .pruneCredentials: "DELETE FROM credentials WHERE id IN \(Self.lapsed)"
        case .insertEvent: "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
        case .lastChain:
            "SELECT number, node, head_sequence, head_digest, head_authentication, head_position "
                + "FROM chains ORDER BY number DESC LIMIT 1"
        case .updateHead:
            "UPDATE chains SET head_sequence = ?2, head_digest = ?3, head_authentication = ?4, "
                + "head_position = ?5 WHERE number = ?1"
        case .beginChain:
            "INSERT INTO chains (\(chainColumns)) "
                + "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
        default: nil
        }
    }

    private static let lapsed =
        "(SELECT id FROM credentials "
        + "WHERE lapses_at <= ?1 AND state <> 'active' ORDER BY lapses_at, id LIMIT ?2)"
}
