import CommandLineInterface

// Signing in with a secret that a server issued to this device.
extension CommandHelp {
    static let loginEnrol = CommandHelp(
        summary: "enrol this device with a ticket",
        operands: .name,
        options: [
            .server, .ticketFile, .caFile, .deviceName, .presence, .onFailure, .presenceCheck,
        ],
        examples: [
            "watchword login enrol Mill:ivan --server https://login.example --ticket-file -",
            "watchword login enrol nas --server https://nas --ca-file c.pem --ticket-file t",
        ],
        details: [
            "The application issues the ticket, which can be used once, within ten minutes. The "
                + "server exchanges it for a secret, which is stored in the vault under NAME. The "
                + "secret of an earlier enrolment under this name is purged.",
            "The new secret keeps the access control of the earlier one, except as changed by --presence "
                + "and --on-failure. If the entry requires confirmation at each use, it is confirmed "
                + "before it is replaced.",
            "If the response is lost, run the same command with the same ticket again. The "
                + "certificates of --ca-file are stored in the vault, and only they are used to "
                + "verify this server. Plain HTTP is allowed only for a server on this machine.",
        ])
    static let loginPresent = CommandHelp(
        summary: "sign in: print a login ticket",
        operands: .name, options: [],
        examples: ["watchword login present Mill:ivan", "watchword --json login present mill"],
        details: [
            "Sends the secret to its server, stores the secret that replaces it, and prints a login "
                + "ticket, which the application must redeem within a minute. If the response is "
                + "lost, run the command again.",
            "If the server detects that somebody else used the secret, the secret is also wiped on "
                + "this device. The exit status is then 5, and the device must be enrolled again.",
        ])
    static let loginStatus = CommandHelp(
        summary: "show the local state of an enrolment",
        operands: .name, options: [.readOnly],
        examples: ["watchword login status Mill:ivan", "watchword --json login status mill"],
        details: [
            "Prints the server, the credential's name, how often and when the secret was last "
                + "replaced, and its state: ready, unanswered (a request without a response), stale "
                + "or wiped, with the reason. The server is not contacted.",
            "A stale secret is older than the last one presented from this folder: it comes from an "
                + "older vault. It is never presented. Restore the newer vault, or enrol the device again.",
        ])
    static let loginWipe = CommandHelp(
        summary: "wipe the secret of an enrolment",
        operands: .name, options: [.yes],
        examples: ["watchword login wipe Mill:ivan", "watchword login wipe mill --yes"],
        details: [
            "Removes the secret from the vault and from its previous generation. The server is not "
                + "contacted: also revoke the credential there."
        ])
}
