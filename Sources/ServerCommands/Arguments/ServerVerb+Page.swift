import Arguments

extension ServerVerb {
    /// What is said of this verb.
    var page: Page {
        switch self {
        case .serve: .serve
        case .clientAdd: .clientAdd
        case .clientList: .clientList
        case .clientRenew: .clientRenew
        case .clientRevoke: .clientRevoke
        case .keysList: .keysList
        case .keysRotate: .keysRotate
        case .keysRetire: .keysRetire
        case .auditVerify: .auditVerify
        case .auditEnded: .auditEnded
        case .backup: .backup
        case .restore: .restore
        case .openapi: .openapi
        case .completions: .completions
        case .manual: .manual
        }
    }
}

extension Page {
    fileprivate static let serve = Page(
        summary: "answer requests until TERM",
        options: [
            .store, .keys, .listen, .opsListen, .tlsCertificate, .tlsKey, .insecureHTTP,
            .profile, .foreignSecrets, .addressRate, .trustedProxy, .noClockCheck, .keepEvents,
        ],
        examples: [
            "watchword-server serve",
            "watchword-server serve --listen 0.0.0.0:8420 --tls-certificate c.pem --tls-key k.pem",
        ],
        details: [
            "--store postgresql://ROLE@HOST/DATABASE, or a URL with several hosts, takes libpq's "
                + "parameters (sslmode, service, …). A password does not belong there: PGPASSFILE or a "
                + "service file has it, or the environment. Any number of servers may share the "
                + "database, and all of them need the same key file.",
            "What is missing is made: the database, and the key file (0600) beside it. Keep a copy of "
                + "the key file elsewhere than the database's backups: neither is worth anything "
                + "without the other.",
            "It takes 4,096 connections at a time, 200 from one address, or fewer where the system lets it "
                + "open fewer files (ulimit -n), which the log then says.",
            "The first TERM answers what has begun and stops; a second one stops at once. HUP reads the "
                + "certificate and its key again: open connections keep the old one for five minutes at "
                + "most. Any other connection is closed after an hour.",
        ])
    fileprivate static let clientAdd = Page(
        summary: "make an API key, shown once", operands: .one("NAME"),
        options: [.store, .keys, .scope, .json],
        examples: ["watchword-server client add shop --scope verify,enrol"])
    fileprivate static let clientList = Page(
        summary: "list the clients", options: [.store, .keys, .json],
        examples: ["watchword-server client list"])
    fileprivate static let clientRenew = Page(
        summary: "replace a client's API key; the new key is shown once",
        operands: .one("CLIENT"), options: [.store, .keys, .json],
        examples: ["watchword-server client renew shop"],
        details: [
            "CLIENT is a name or an id, as client list prints them. The old key stops working at once. Id, "
                + "name and scopes stay, and the client still redeems the logins of the devices that it "
                + "enrolled. A revoked client cannot be renewed."
        ])
    fileprivate static let clientRevoke = Page(
        summary: "revoke a client for good", operands: .one("CLIENT"),
        options: [.store, .keys, .json],
        examples: [
            "watchword-server client revoke shop",
            "watchword-server client revoke cl_IyIkYbmlVZ8PqDzyB0oA2Q",
        ],
        details: [
            "CLIENT is a name or an id, as client list prints them. Logins of the devices that it enrolled "
                + "can no longer be redeemed, unless the enrolment named other clients. If only the key "
                + "has to go, use client renew."
        ])
    fileprivate static let keysList = Page(
        summary: "list the keys and what uses them", options: [.store, .keys, .json],
        examples: ["watchword-server keys list"],
        details: [
            "A key is staged (nothing uses it yet), current (new rows use it), retiring (older rows still may "
                + "use it) or missing (rows use it, and the key file does not have it)."
        ])
    fileprivate static let keysRotate = Page(
        summary: "make a new key and seal everything under it", options: [.store, .keys, .json],
        examples: ["watchword-server keys rotate"],
        details: [
            "Servers go on meanwhile, and take the new key as soon as the file has it. What is broken "
                + "off is taken up by the next call. Enrolled secrets move at their next use."
        ])
    fileprivate static let keysRetire = Page(
        summary: "give up the keys that nothing hangs on", options: [.store, .keys, .json],
        examples: ["watchword-server keys retire"],
        details: [
            "A key is kept as long as anything hangs on it: answers that are given again do for a day, "
                + "enrolled secrets until they are used. A backup needs the keys of its time: keep each "
                + "key file as long as the last backup that was made with it."
        ])
    fileprivate static let auditVerify = Page(
        summary: "look for deleted, changed and moved events and rows",
        options: [.store, .keys, .checkpoint, .json],
        examples: [
            "watchword-server audit verify",
            "watchword-server audit verify --checkpoint kept.txt",
        ],
        details: [
            "Prints marks of where the events end. Kept on another machine and given back with "
                + "--checkpoint, they show a database that was put back to an earlier state.",
            "The row of each credential and client is compared with the last event that tells of it, so a "
                + "row that was put back to an older version is named.",
        ])
    fileprivate static let auditEnded = Page(
        summary: "list the credentials that were revoked or disabled", options: [.store],
        examples: ["watchword-server audit ended --store sqlite:/srv/lost/watchword.db >ended.txt"],
        details: [
            "From rows and events, as far as a damaged database can be read: for restore --ended."
        ])
    fileprivate static let backup = Page(
        summary: "copy the database to FILE while it is in use", operands: .file,
        options: [.store, .keys],
        examples: ["watchword-server backup /srv/backup/watchword.db"],
        details: [
            "The copy is worth nothing without the key file, which is no part of it: keep that elsewhere.",
            "A PostgreSQL database is copied by its own means, such as pg_dump.",
        ])
    fileprivate static let restore = Page(
        summary: "make a database of a copy that backup made", operands: .optionalFile,
        options: [.store, .keys, .ended, .keepClients, .clockIsRight],
        examples: [
            "watchword-server restore /srv/backup/watchword.db",
            "watchword-server restore /srv/backup/watchword.db --ended ended.txt",
        ],
        details: [
            "A PostgreSQL database is put back by its own means first, and then restored without FILE: "
                + "also when a standby took over that lacked the last commits.",
            "There may be no database: stop every server, and move the old one away. Whatever may have "
                + "been spent since the copy was made is refused from then on: counters, recovery codes "
                + "and enrolled secrets are enrolled anew, and API keys are made anew unless they are "
                + "kept.",
            "This machine's clock decides which time-based codes are refused. The kernel must know that it is "
                + "synchronised, and no event may be newer than it. Otherwise set the clock right first. "
                + "--clock-is-right is for machines on which the kernel cannot know: codes up to the "
                + "clock's time, and up to the newest event's, are refused.",
            "Time-based codes go on, also of a credential that was revoked or disabled since, unless "
                + "--ended names it: audit ended lists them from the lost database, GET /v1/events from "
                + "elsewhere.",
        ])
    fileprivate static let openapi = Page(
        summary: "print the OpenAPI description", examples: ["watchword-server openapi"])
    fileprivate static let completions = Page(
        summary: "print completions for a shell",
        operands: .word(CompletionScript<ServerVerb>.Shell.allCases.map(\.rawValue)),
        examples: ["watchword-server completions bash"])
    fileprivate static let manual = Page(
        summary: "print the manual page", examples: ["watchword-server manual"])
}
