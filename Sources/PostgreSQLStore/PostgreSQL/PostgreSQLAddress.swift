internal import CPostgreSQL
internal import POSIX

/// Where a database is and how it is reached: a connection string of libpq's, either kind.
///
/// `postgresql://role@host-1,host-2/database?sslmode=verify-full` or `host=… dbname=…`; what it leaves
/// open comes from libpq's own places (`PGPASSFILE`, a service file, the environment).
@safe public struct PostgreSQLAddress: Sendable {
    /// Whether a password stands in the text itself, where others can read it.
    public let holdsPassword: Bool
    /// Where it leads, for people: hosts and database, never a password.
    public let shown: String
    let settings: [(keyword: String, value: String)]

    /// Understands `text`; nothing when libpq does not.
    public init?(_ text: String) {
        guard let options = unsafe PQconninfoParse(text, nil) else { return nil }
        defer { unsafe PQconninfoFree(options) }
        var given: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe given[String(cString: keyword)] = String(cString: value)
            }
            unsafe option += 1
        }
        holdsPassword = given["password"]?.isEmpty == false
        let host = given["host"] ?? given["hostaddr"] ?? given["service"] ?? ""
        shown = "postgresql://" + host + "/" + (given["dbname"] ?? "")
        // The later of two counts: what the text says replaces what stands before it.
        settings =
            Self.before + [("dbname", text)] + [("client_encoding", "UTF8")]
    }

    /// The same, tried for as short a time as libpq takes.
    var inHaste: PostgreSQLAddress {
        PostgreSQLAddress(
            holdsPassword: holdsPassword, shown: shown,
            settings: settings + [("connect_timeout", "2")])
    }

    private init(
        holdsPassword: Bool, shown: String, settings: [(keyword: String, value: String)]
    ) {
        self.holdsPassword = holdsPassword
        self.shown = shown
        self.settings = settings
    }

    // A connection is tried for so long, and one that nobody answers on is noticed: without these the
    // system's defaults count, which are hours. A server that only reads can't keep a code from being
    // used again.
    private static let before: [(keyword: String, value: String)] = [
        ("fallback_application_name", "watchword-server"), ("connect_timeout", "5"),
        ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"), ("target_session_attrs", "read-write"),
    ]
}

extension [(keyword: String, value: String)] {
    /// Lends the settings as libpq takes them.
    @unsafe func withCStrings<Result>(
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>
        ) -> Result
    ) -> Result {
        let keywords = map { Array<CChar>($0.keyword.utf8CString) }
        let values = map { Array<CChar>($0.value.utf8CString) }
        return unsafe lend(keywords[...], []) { keywords in
            unsafe lend(values[...], []) { values in unsafe body(keywords, values) }
        }
    }

    /// Pins one text after the other, then lends them all, ended by nothing.
    @unsafe private func lend<Result>(
        _ texts: ArraySlice<[CChar]>, _ lent: [UnsafePointer<CChar>?],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        guard let first = texts.first else { return unsafe body(lent + [nil]) }
        return unsafe first.withUnsafeBufferPointer { first in
            unsafe lend(texts.dropFirst(), lent + [first.baseAddress], body)
        }
    }
}
