/// The text that `--help` prints.
enum ServerHelp {
    static func of(_ verb: ServerVerb) -> String {
        let operand = verb.operand.map { " " + $0 } ?? ""
        let options = verb.options + [.help, .version]
        let variables =
            verb.options.contains { $0.isInEnvironment }
            ? "\n\nEach of these can be said by the environment, too: \(ServerOption.store.variable) for "
                + "--store, and so on."
            : ""
        return """
            Example:
              \(example(verb))

            Usage: watchword-server \(verb.name)\(operand) [OPTION…]

            \(summary(verb))

            Options:
            \(table(options.map { ("--" + $0.name + ($0.placeholder.map { " " + $0 } ?? ""), $0.summary) }))\(variables)
            """
    }

    static func ofProgram() -> String {
        let verbs = ServerVerb.allCases.map { verb in
            (verb.name + (verb.operand.map { " " + $0 } ?? ""), title(verb))
        }
        return """
            Examples:
              watchword-server serve
              watchword-server client add shop --scope verify,enrol

            Usage: watchword-server VERB [OPERAND] [OPTION…]

            Verifies one-time passwords and enrolled secrets, each code once.

            Verbs:
            \(table(verbs))

            watchword-server VERB --help shows a verb's page.
            """
    }

    private static func table(_ rows: [(String, String)]) -> String {
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        return rows.map { left, right in
            "  " + left + String(repeating: " ", count: width - left.count) + right
        }.joined(separator: "\n")
    }

    private static func title(_ verb: ServerVerb) -> String {
        switch verb {
        case .serve: "answer requests until TERM"
        case .clientAdd: "make an API key, shown once"
        case .clientList: "list the clients"
        case .clientRevoke: "take a client's API key its worth"
        case .keysList: "tell what hangs on which key"
        case .keysRotate: "make a new key and seal everything under it"
        case .keysRetire: "give up the keys that nothing hangs on"
        case .auditVerify: "look for deleted, changed, moved and cut-off events"
        case .auditEnded: "list the credentials that were revoked or disabled"
        case .backup: "copy the database to FILE while it is in use"
        case .restore: "make a database of a copy that backup made"
        case .openapi: "print the OpenAPI description"
        }
    }

    private static func summary(_ verb: ServerVerb) -> String {
        let title = title(verb)
        return title.prefix(1).uppercased() + title.dropFirst() + "."
            + (more(verb).map { "\n" + $0 } ?? "")
    }

    private static func more(_ verb: ServerVerb) -> String? {
        switch verb {
        case .serve:
            """
            What is missing is made: the database, and the key file (0600) beside it. Keep a copy of the
            key file elsewhere than the database's backups: neither is worth anything without the other.
            The first TERM answers what has begun and stops; a second one stops at once.
            """
        case .clientRevoke: "CLIENT is an id as client list prints it."
        case .keysRotate:
            """
            Servers go on meanwhile, and take the new key as soon as the file has it. What is broken off
            is taken up by the next call. Enrolled secrets move at their next use.
            """
        case .keysRetire: "A key is kept as long as anything hangs on it."
        case .auditVerify:
            """
            Prints a mark of the events' end. Kept on another machine and given back with --checkpoint,
            it shows a database that was put back to an earlier state.
            """
        case .auditEnded:
            """
            From rows and events, as far as a damaged database can be read: for restore --ended.
            """
        case .backup:
            """
            The copy is worth nothing without the key file, which is no part of it: keep that elsewhere.
            """
        case .restore:
            """
            There may be no database: stop every server, and move the old one away. Whatever may have been
            spent since the copy was made is refused from then on: counters, recovery codes and enrolled
            secrets are enrolled anew, and API keys are made anew unless they are kept. Time-based codes go
            on, also of a credential that was revoked or disabled since, unless --ended names it: audit
            ended lists them from the lost database, GET /v1/events from elsewhere.
            """
        case .clientAdd, .clientList, .keysList, .openapi: nil
        }
    }

    private static func example(_ verb: ServerVerb) -> String {
        switch verb {
        case .serve:
            "watchword-server serve --listen 0.0.0.0:8420 --tls-certificate c.pem --tls-key k.pem"
        case .clientAdd: "watchword-server client add shop --scope verify,enrol"
        case .clientRevoke: "watchword-server client revoke cl_…"
        case .backup: "watchword-server backup /srv/backup/watchword.db"
        case .restore: "watchword-server restore /srv/backup/watchword.db --ended ended.txt"
        case .auditEnded:
            "watchword-server audit ended --store sqlite:/srv/lost/watchword.db >ended.txt"
        default: "watchword-server \(verb.name)"
        }
    }
}
