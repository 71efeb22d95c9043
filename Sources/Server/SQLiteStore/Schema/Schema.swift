/// The tables, as a list of migration steps; `PRAGMA user_version` counts the steps that were
/// applied to a database.
///
/// A released step never changes; a new version adds one.
enum Schema {
    /// Identifies the file as ours (`PRAGMA application_id`): “wwdb”.
    static let applicationID: Int64 = 0x7777_6462

    /// The page size of a new file in bytes.
    ///
    /// It is small because a commit writes whole pages, often for only one or two rows each.
    static let pageSize = 2_048

    /// The SQL of each step; `PRAGMA user_version` is the number of applied steps.
    static let steps = [first, second]

    // Credentials are stored by row number, so that the tree's inner pages hold only integers. In a
    // tree ordered by id, they would hold whole rows, and the tree for a million rows would have
    // seven levels instead of four. A decision writes one page of the table and no index. The index
    // by subject separates revoked credentials, so that a subject's history does not slow down its
    // current decisions. `authentication` covers every other column of its row.
    private static let first = """
        CREATE TABLE credentials (
            id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
            subject BLOB NOT NULL,
            kind TEXT NOT NULL,
            state TEXT NOT NULL,
            version INTEGER NOT NULL,
            key_id INTEGER,
            fingerprint BLOB,
            created_at INTEGER NOT NULL,
            lapses_at INTEGER,
            body BLOB NOT NULL,
            authentication BLOB NOT NULL,
            is_revoked INTEGER NOT NULL AS (state = 'revoked') VIRTUAL
        ) STRICT;
        CREATE INDEX credentials_by_subject
            ON credentials (subject, is_revoked, created_at, id);
        CREATE UNIQUE INDEX credentials_by_fingerprint
            ON credentials (fingerprint) WHERE fingerprint IS NOT NULL;
        CREATE INDEX credentials_by_key
            ON credentials (key_id, id, kind) WHERE key_id IS NOT NULL;
        CREATE INDEX credentials_by_lapse
            ON credentials (lapses_at) WHERE lapses_at IS NOT NULL;

        CREATE TABLE decoys (
            slot INTEGER PRIMARY KEY,
            body BLOB NOT NULL
        ) STRICT;

        CREATE TABLE tickets (
            digest BLOB NOT NULL PRIMARY KEY,
            purpose TEXT NOT NULL,
            credential BLOB NOT NULL,
            subject BLOB NOT NULL,
            verification BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            authentication BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tickets_by_credential ON tickets (credential);
        CREATE INDEX tickets_by_expiry ON tickets (expires_at);

        CREATE TABLE answers (
            key BLOB NOT NULL PRIMARY KEY,
            request BLOB NOT NULL,
            credential BLOB,
            key_id INTEGER,
            sealed_answer BLOB,
            expires_at INTEGER NOT NULL,
            authentication BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX answers_by_credential
            ON answers (credential) WHERE credential IS NOT NULL;
        CREATE INDEX answers_by_expiry ON answers (expires_at, key_id);

        CREATE TABLE clients (
            id BLOB NOT NULL PRIMARY KEY,
            version INTEGER NOT NULL,
            digest BLOB NOT NULL UNIQUE,
            name BLOB NOT NULL,
            scopes BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            revoked_at INTEGER,
            authentication BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX clients_by_name ON clients (name) WHERE revoked_at IS NULL;

        CREATE TABLE chains (
            number INTEGER PRIMARY KEY,
            node BLOB NOT NULL UNIQUE,
            start_sequence INTEGER NOT NULL,
            start_digest BLOB NOT NULL,
            start_position INTEGER NOT NULL,
            start_behind INTEGER NOT NULL,
            pruned_before INTEGER,
            pruned_at INTEGER,
            start_authentication BLOB NOT NULL,
            head_sequence INTEGER NOT NULL,
            head_digest BLOB NOT NULL,
            head_authentication BLOB NOT NULL,
            head_position INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE events (
            position INTEGER PRIMARY KEY,
            chain INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            behind INTEGER NOT NULL,
            time INTEGER NOT NULL,
            body BLOB NOT NULL,
            digest BLOB NOT NULL
        ) STRICT;

        CREATE TABLE settings (
            name TEXT NOT NULL PRIMARY KEY,
            value INTEGER NOT NULL,
            authentication BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    private static let second = """
        CREATE TABLE challenges (
            digest BLOB NOT NULL PRIMARY KEY,
            purpose TEXT NOT NULL,
            subject BLOB,
            credential BLOB,
            body BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            authentication BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX challenges_by_expiry ON challenges (expires_at);
        """
}
