internal import Exports
internal import WatchwordCoding

/// Stratum's database, which has the fields of its JSON.
enum StratumDatabase {
    static func read(_ database: DatabaseReading) throws(ExportError) -> ExportRows {
        var document = [("Authenticators", try list("authenticator", entryColumns, database))]
        if database.hasTable("category") && database.hasTable("authenticatorcategory") {
            document += [
                ("Categories", try list("category", categoryColumns, database)),
                (
                    "AuthenticatorCategories",
                    try list("authenticatorcategory", bindingColumns, database)
                ),
            ]
        }
        return try StratumFormat.read(.object(document))
    }

    private typealias Names = [(column: String, member: String)]

    private static let entryColumns: Names = [
        ("type", "Type"), ("issuer", "Issuer"), ("username", "Username"), ("secret", "Secret"),
        ("pin", "Pin"), ("algorithm", "Algorithm"), ("digits", "Digits"), ("period", "Period"),
        ("counter", "Counter"),
    ]
    private static let categoryColumns: Names = [("id", "Id"), ("name", "Name")]
    private static let bindingColumns: Names = [
        ("categoryid", "CategoryId"), ("authenticatorsecret", "AuthenticatorSecret"),
    ]

    private static func list(
        _ table: String, _ names: Names, _ database: DatabaseReading
    ) throws(ExportError) -> JSONValue {
        .list(try database.rows(of: table, names.map(\.column)).map { $0.object(names) })
    }
}
