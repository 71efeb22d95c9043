// The tables, as lists of schema steps. The steps are written out for each database, and not
// derived from the rows' columns, because a released step never changes.

extension SQLiteDialect {
    /// The steps; `PRAGMA user_version` counts the steps that were applied to a database.
    ///
    /// The file contains the text of a step, and a store refuses a file with a different text.
    package static let steps = [first, second, third]

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

    private static let third = """
        ALTER TABLE clients ADD COLUMN subjects BLOB;
        """
}

extension PostgreSQLDialect {
    /// The steps; the table `steps` holds the number of applied steps.
    package static let steps = [first, second, third]

    /// The functions that the steps create.
    package static let functions = steps.joined().split(separator: "CREATE FUNCTION watchword.")
        .dropFirst().map { text in
            (name: text.prefix { $0 != "(" }, body: text.split(separator: "$$")[1])
        }

    // The indexes that decisions use do not contain revoked credentials, so that a subject's
    // history does not slow down its current decisions. Pages that are rewritten often keep free
    // space, so that a row's new version fits beside the old one and no index changes. The position
    // counter is one row, and each transaction locks it last: positions therefore become visible in
    // order. `authentication` covers every other column of its row.
    private static let first = """
        CREATE SCHEMA IF NOT EXISTS watchword;
        CREATE TABLE watchword.steps (
            taken integer NOT NULL
        );
        INSERT INTO watchword.steps VALUES (0);

        CREATE TABLE watchword.credentials (
            id bytea NOT NULL PRIMARY KEY CHECK (length(id) = 16),
            subject bytea NOT NULL,
            kind text COLLATE "C" NOT NULL,
            state text COLLATE "C" NOT NULL,
            version bigint NOT NULL,
            key_id bigint,
            fingerprint bytea,
            created_at bigint NOT NULL,
            lapses_at bigint,
            body bytea NOT NULL,
            authentication bytea NOT NULL
        ) WITH (fillfactor = 60);
        CREATE INDEX credentials_by_subject
            ON watchword.credentials (subject, created_at, id);
        CREATE INDEX credentials_alive_by_subject
            ON watchword.credentials (subject, created_at, id) WHERE state <> 'revoked';
        CREATE UNIQUE INDEX credentials_by_fingerprint
            ON watchword.credentials (fingerprint) WHERE fingerprint IS NOT NULL;
        CREATE INDEX credentials_by_key
            ON watchword.credentials (key_id, id, kind) WHERE key_id IS NOT NULL;
        CREATE INDEX credentials_by_lapse
            ON watchword.credentials (lapses_at) WHERE lapses_at IS NOT NULL;

        CREATE TABLE watchword.decoys (
            slot integer NOT NULL PRIMARY KEY,
            body bytea NOT NULL
        ) WITH (fillfactor = 60);

        CREATE TABLE watchword.tickets (
            digest bytea NOT NULL PRIMARY KEY,
            purpose text COLLATE "C" NOT NULL,
            credential bytea NOT NULL,
            subject bytea NOT NULL,
            verification bytea NOT NULL,
            created_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            authentication bytea NOT NULL
        ) WITH (autovacuum_vacuum_scale_factor = 0.05);
        CREATE INDEX tickets_by_credential ON watchword.tickets (credential);
        CREATE INDEX tickets_by_expiry ON watchword.tickets (expires_at);

        CREATE TABLE watchword.answers (
            key bytea NOT NULL PRIMARY KEY,
            request bytea NOT NULL,
            credential bytea,
            key_id bigint,
            sealed_answer bytea,
            expires_at bigint NOT NULL,
            authentication bytea NOT NULL
        ) WITH (autovacuum_vacuum_scale_factor = 0.05);
        CREATE INDEX answers_by_credential
            ON watchword.answers (credential) WHERE credential IS NOT NULL;
        CREATE INDEX answers_by_expiry ON watchword.answers (expires_at, key_id);

        CREATE TABLE watchword.clients (
            id bytea NOT NULL PRIMARY KEY,
            version bigint NOT NULL,
            digest bytea NOT NULL UNIQUE,
            name bytea NOT NULL,
            scopes bytea NOT NULL,
            created_at bigint NOT NULL,
            revoked_at bigint,
            authentication bytea NOT NULL
        );
        CREATE UNIQUE INDEX clients_by_name ON watchword.clients (name) WHERE revoked_at IS NULL;

        CREATE TABLE watchword.chains (
            number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            node bytea NOT NULL UNIQUE,
            is_open boolean NOT NULL DEFAULT true,
            start_sequence bigint NOT NULL,
            start_digest bytea NOT NULL,
            start_position bigint NOT NULL,
            start_behind bigint NOT NULL,
            pruned_before bigint,
            pruned_at bigint,
            start_authentication bytea NOT NULL,
            head_sequence bigint NOT NULL,
            head_digest bytea NOT NULL,
            head_authentication bytea NOT NULL,
            head_position bigint NOT NULL
        ) WITH (fillfactor = 20);

        CREATE TABLE watchword.counter (
            position bigint NOT NULL
        ) WITH (fillfactor = 10);
        INSERT INTO watchword.counter VALUES (0);

        CREATE TABLE watchword.events (
            position bigint NOT NULL PRIMARY KEY,
            chain integer NOT NULL,
            sequence bigint NOT NULL,
            behind bigint NOT NULL,
            time bigint NOT NULL,
            body bytea NOT NULL,
            digest bytea NOT NULL
        ) WITH (autovacuum_vacuum_scale_factor = 0.05);

        CREATE TABLE watchword.settings (
            name text COLLATE "C" NOT NULL PRIMARY KEY,
            value bigint NOT NULL
        );
        INSERT INTO watchword.settings VALUES ('pruning', 0);

        CREATE TABLE watchword.keys (
            id bigint NOT NULL PRIMARY KEY,
            fingerprint bytea NOT NULL
        );

        CREATE FUNCTION watchword.expect(wanted integer[], met integer[]) RETURNS boolean
            LANGUAGE plpgsql AS $$
            BEGIN
                IF cardinality(wanted) = cardinality(met) THEN RETURN true; END IF;
                RAISE EXCEPTION 'a condition does not hold' USING ERRCODE = 'WW409',
                    DETAIL = array_to_string(ARRAY(
                        SELECT unnest(wanted) EXCEPT ALL SELECT unnest(met)), ',');
            END $$;
        CREATE FUNCTION watchword.expect_chain(is_found boolean) RETURNS boolean
            LANGUAGE plpgsql AS $$
            BEGIN
                IF is_found THEN RETURN true; END IF;
                RAISE EXCEPTION 'the chain was moved by somebody else' USING ERRCODE = 'WW410';
            END $$;
        """

    private static let second = """
        CREATE TABLE watchword.challenges (
            digest bytea NOT NULL PRIMARY KEY,
            purpose text COLLATE "C" NOT NULL,
            subject bytea,
            credential bytea,
            body bytea NOT NULL,
            created_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            authentication bytea NOT NULL
        ) WITH (autovacuum_vacuum_scale_factor = 0.05);
        CREATE INDEX challenges_by_expiry ON watchword.challenges (expires_at);
        """

    private static let third = """
        ALTER TABLE watchword.clients ADD COLUMN subjects bytea;
        """
}
