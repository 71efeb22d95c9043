internal import CPostgreSQL
internal import WatchwordSystem

/// How to reach a database: a libpq connection string.
///
/// Its form is `postgresql://role@host-1,host-2/database?sslmode=verify-full` or `host=… dbname=…`.
/// For missing parts, libpq uses its own sources (`PGPASSFILE`, a service file, the environment).
@safe public struct PostgreSQLAddress: Sendable {
    /// Whether the text itself contains a password, which other users may be able to read.
    public let containsPassword: Bool
    /// The hosts and the database, for messages; never a password.
    public let shown: String
    let settings: [(keyword: String, value: String)]

    /// Parses `text`; returns `nil` if libpq rejects it.
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
        containsPassword = given["password"]?.isEmpty == false
        let host = given["host"] ?? given["hostaddr"] ?? given["service"] ?? ""
        shown = "postgresql://" + host + "/" + (given["dbname"] ?? "")
        // libpq uses the last of repeated settings, so the text overrides the defaults before it.
        settings =
            Self.before + [("dbname", text)] + [("client_encoding", "UTF8")]
    }

    /// The same address, with the shortest connection timeout that libpq allows.
    var failsFast: PostgreSQLAddress {
        PostgreSQLAddress(
            containsPassword: containsPassword, shown: shown,
            settings: settings + [("connect_timeout", "2")])
    }

    private init(
        containsPassword: Bool, shown: String, settings: [(keyword: String, value: String)]
    ) {
        self.containsPassword = containsPassword
        self.shown = shown
        self.settings = settings
    }

    // These settings limit the time for a connection attempt and detect a dead connection; the
    // system's defaults are hours. The session must be writable, because a read-only server cannot
    // keep a code from being used again.
    private static let before: [(keyword: String, value: String)] = [
        ("fallback_application_name", "watchword-server"), ("connect_timeout", "5"),
        ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"), ("target_session_attrs", "read-write"),
    ]
}

extension [(keyword: String, value: String)] {
    /// Lends the settings in the form that libpq takes.
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

    /// Pins the texts one after the other, then lends them as a null-terminated array.
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
