import Arguments

// Signing in with a secret that a server handed to this device.
extension Page {
    static let loginEnrol = Page(
        summary: "enrol this device with a ticket",
        operands: .name,
        options: [
            .server, .ticketFile, .caFile, .deviceName, .presence, .onFailure, .presenceCheck,
        ],
        examples: [
            "watchword login enrol Mill:ivan --server https://login.example --ticket-file -",
            "watchword login enrol mill --server https://localhost:8420 --ca-file ca.pem "
                + "--ticket-file t",
        ],
        details: [
            "The application hands out the ticket, which is good once and for ten minutes. The server "
                + "makes a secret of it, which goes into the vault under NAME; what an earlier "
                + "enrolment left under the same name is purged.",
            "The new secret keeps the protection of the earlier one, except for what --presence and "
                + "--on-failure change. An entry that asks for you at each use asks before it is "
                + "replaced.",
            "When the answer was lost, run the same command with the same ticket again. The "
                + "authorities of --ca-file are kept in the vault, and no other is trusted for "
                + "this server. Plain HTTP is spoken on this machine only.",
        ])
    static let loginPresent = Page(
        summary: "sign in: print a login ticket",
        operands: .name, options: [],
        examples: ["watchword login present Mill:ivan", "watchword --json login present mill"],
        details: [
            "Presents the secret to its server, keeps the one that takes its place, and prints the "
                + "ticket that the application redeems within a minute. When the answer was lost, run "
                + "it again: it takes up where it was.",
            "A server that saw the secret used by somebody else has it wiped, here, too; the exit "
                + "status is then 5, and the device must be enrolled anew.",
        ])
    static let loginStatus = Page(
        summary: "show what this device has of an enrolment",
        operands: .name, options: [.readOnly],
        examples: ["watchword login status Mill:ivan", "watchword --json login status mill"],
        details: [
            "Prints the server, the credential's name, how often the secret was changed and "
                + "when, and whether an answer is awaited (“unanswered”) or the secret was "
                + "wiped, and why. The server is not asked."
        ])
    static let loginWipe = Page(
        summary: "forget the secret of an enrolment",
        operands: .name, options: [.yes],
        examples: ["watchword login wipe Mill:ivan", "watchword login wipe mill --yes"],
        details: [
            "Removes the secret from the vault and from the vault's previous generation. The server "
                + "is not told: revoke the credential there."
        ])
}
