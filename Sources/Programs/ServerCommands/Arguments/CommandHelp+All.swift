import CommandLineInterface

// The help pages of the commands.
extension CommandHelp {
    static let serve = CommandHelp(
        summary: "run the server until it receives TERM",
        options: [
            .store, .keys, .listen, .opsListen, .tlsCertificate, .tlsKey, .insecureHTTP,
            .profile, .guessBound, .foreignSecrets, .addressRate, .trustedProxy, .noClockCheck,
            .keepEvents,
            .relyingParty, .relyingPartyName, .origin, .relatedOrigin, .topOrigin,
            .attestationRoots, .authenticators, .passkeyAlgorithms, .passkeyFloor, .pages,
            .returnTo, .audience, .tpmRoots,
        ],
        examples: [
            "watchword-server serve",
            "watchword-server serve --tls-certificate chain.pem --tls-key key.pem",
            "watchword-server serve --rp-id mill.example --pages",
        ],
        details: [
            "For PostgreSQL, --store takes a URL such as postgresql://ROLE@HOST/DATABASE, which "
                + "may contain several hosts and libpq's parameters (sslmode, service, …). Do not "
                + "put a password in the URL; use PGPASSFILE, a service file or the environment. "
                + "Any number of servers can share the database. All of them need the same key "
                + "file.",
            "The server creates what is missing: the database, and the key file (0600) beside "
                + "it. Back up the database and the key file to different places. Either is useless "
                + "without the other.",
            "The server accepts 4,096 connections, 200 from one address. If the system permits "
                + "too few open files (ulimit -n), it accepts fewer and logs a warning.",
            "TERM finishes the requests in progress and stops the server; a second TERM stops "
                + "it at once. HUP reads the certificate and its key again: open connections keep the "
                + "old ones for at most five minutes. Without TLS, HUP changes nothing. In any "
                + "case, a connection is closed after at most one hour.",
        ])
    static let clientAdd = CommandHelp(
        summary: "create a client and print its API key once", operands: .one("NAME"),
        options: [.store, .keys, .scope, .json],
        examples: ["watchword-server client add shop --scope verify,enrol"])
    static let clientList = CommandHelp(
        summary: "list the clients", options: [.store, .keys, .json],
        examples: ["watchword-server client list"])
    static let clientRenew = CommandHelp(
        summary: "replace a client's API key and print the new one once",
        operands: .one("CLIENT"), options: [.store, .keys, .json],
        examples: ["watchword-server client renew shop"],
        details: [
            "CLIENT is a name or an id, as printed by client list. The old key stops working at "
                + "once. The id, name and scopes do not change, and the client can still redeem "
                + "the logins of the devices that it enrolled. A revoked client cannot be renewed."
        ])
    static let clientRevoke = CommandHelp(
        summary: "revoke a client permanently", operands: .one("CLIENT"),
        options: [.store, .keys, .json],
        examples: [
            "watchword-server client revoke shop",
            "watchword-server client revoke cl_IyIkYbmlVZ8PqDzyB0oA2Q",
        ],
        details: [
            "CLIENT is a name or an id, as printed by client list. Logins of the devices that "
                + "the client enrolled can no longer be redeemed, unless the enrolment named other "
                + "clients. To replace only the API key, use client renew."
        ])
    static let importKeys = CommandHelp(
        summary: "import the users' keys from another server's FILE", operands: .file,
        options: [
            .store, .keys, .subject, .allowShortKeys, .exportPasswordFile, .dryRun, .json,
        ],
        examples: [
            "watchword-server import /etc/users.oath",
            "watchword-server import ~alice/.google_authenticator --subject alice",
        ],
        details: [
            "FILE is an OATH users file (liboath, pam_oath), the file of google-authenticator's PAM "
                + "module, or a PSKC file (RFC 6030); - is standard input. A sandboxed process reads "
                + "it. The user is the subject of the credential. In PSKC, this is UserId, "
                + "FriendlyName or SerialNo, whichever comes first.",
            "The credentials are active at once. Counters and the last used codes are imported if "
                + "the file has them; these codes are then not accepted again. PINs, passwords and emergency codes are not "
                + "imported.",
            "The command prints a line for each row: imported, already present or refused. The exit status is 1 if a row "
                + "was refused. A second import of the same file changes nothing. Servers may keep "
                + "running, but the old system must no longer accept codes.",
        ])
    static let keysList = CommandHelp(
        summary: "list the keys and the rows that use them",
        options: [.store, .keys, .credentials, .json],
        examples: ["watchword-server keys list", "watchword-server keys list --credentials"],
        details: [
            "A key is staged (not used yet), current (new rows use it), retiring (older rows "
                + "may still use it) or missing (rows use it, but it is not in the key file)."
        ])
    static let keysRotate = CommandHelp(
        summary: "create a new key and re-seal all rows under it", options: [.store, .keys, .json],
        examples: ["watchword-server keys rotate"],
        details: [
            "Servers keep running, and use the new key as soon as it is in the file. An "
                + "interrupted rotation resumes at the next call. Enrolled secrets move to the new "
                + "key at their next use."
        ])
    static let keysRetire = CommandHelp(
        summary: "delete the keys that no row uses", options: [.store, .keys, .json],
        examples: ["watchword-server keys retire"],
        details: [
            "Stored responses use their key for a day, enrolled secrets until their next use. A "
                + "backup needs the keys with which it was made: keep each key file as long as "
                + "any backup needs it."
        ])
    static let auditVerify = CommandHelp(
        summary: "detect deleted, changed and moved events and rows",
        options: [.store, .keys, .checkpoint, .json],
        examples: [
            "watchword-server audit verify",
            "watchword-server audit verify --checkpoint kept.txt",
        ],
        details: [
            "Prints checkpoints that record where the event chains end. Keep them on another "
                + "machine. With --checkpoint, they reveal a database that was replaced by an older "
                + "state.",
            "Compares the row of each credential and client with its last event, and names rows "
                + "that were replaced by an older version.",
        ])
    static let auditEnded = CommandHelp(
        summary: "list the revoked and disabled credentials", options: [.store],
        examples: ["watchword-server audit ended --store sqlite:/srv/lost/watchword.db >ended.txt"],
        details: [
            "Reads rows and events, as far as a damaged database can be read. The output is the "
                + "input of restore --ended."
        ])
    static let backup = CommandHelp(
        summary: "copy the database to FILE while servers use it", operands: .file,
        options: [.store, .keys],
        examples: ["watchword-server backup /srv/backup/watchword.db"],
        details: [
            "The copy does not include the key file and is useless without it. Keep the key "
                + "file elsewhere.",
            "To copy a PostgreSQL database, use its own tools, such as pg_dump.",
        ])
    static let restore = CommandHelp(
        summary: "create a database from a copy made by backup", operands: .optionalFile,
        options: [.store, .keys, .ended, .keepClients, .clockIsRight],
        examples: [
            "watchword-server restore /srv/backup/watchword.db",
            "watchword-server restore /srv/backup/watchword.db --ended ended.txt",
        ],
        details: [
            "For PostgreSQL, first restore the database with its own tools, then run restore "
                + "without FILE. After a fail-over to a standby that lacked the last commits, only "
                + "run restore without FILE.",
            "The database must not exist: stop every server, and move the old one away. restore "
                + "refuses everything that may have been spent since the copy was made: HOTP, "
                + "recovery codes and enrolled secrets must be enrolled again, and API keys must be "
                + "created again unless --keep-clients is given.",
            "The clock decides which time-based codes are refused. The kernel must report it as "
                + "synchronised, and no event may be newer; otherwise, set the clock first. Use "
                + "--clock-is-right only on machines where the kernel cannot report this: restore "
                + "then refuses codes up to the clock's time or the newest event's, whichever is "
                + "later.",
            "TOTP credentials, passkeys and device keys remain valid, even if they were revoked, "
                + "replaced or disabled after the copy was made, unless --ended names them. To find "
                + "them, run audit ended on the lost database, or use the events that you exported "
                + "with GET /v1/events.",
        ])
    static let openapi = CommandHelp(
        summary: "print the OpenAPI document", examples: ["watchword-server openapi"])
    static let completions = CommandHelp(
        summary: "print the completion script for a shell",
        operands: .word(CompletionScript.Shell.allCases.map(\.rawValue)),
        examples: ["watchword-server completions bash"])
    static let manual = CommandHelp(
        summary: "print the manual page", examples: ["watchword-server manual"])
}
