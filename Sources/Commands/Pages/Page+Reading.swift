import Arguments

// Entries are looked at.
extension Page {
    static let code = Page(
        summary: "print an entry's code",
        operands: .name, options: [.at, .next, .presenceCheck, .readOnly],
        examples: [
            "watchword code github",
            "watchword code GitHub:alice@example.com --next",
            "watchword --json code github",
            "watchword code github --at 2026-11-21T01:09:30Z",
        ],
        details: [
            "Prints the code and a newline, nothing else. NAME is an entry's whole name, "
                + "or a part of one that no other entry has, whatever the case.",
            "The counter of a counter-based entry is stored before its code is shown.",
            "An entry that asks at each use asks what the system asks for the PAM service "
                + "“watchword”, where that is set up, and else the passphrase; the one that "
                + "unlocked the vault counts for one use.",
        ])
    static let watch = Page(
        summary: "show codes as they change",
        operands: .names, options: [.presenceCheck, .readOnly],
        examples: ["watchword watch", "watchword watch github mail"],
        details: [
            "A live list with the seconds that are left, until q or Ctrl-C. Nothing of it "
                + "stays on the screen. Entries by counter are left out: looking at them "
                + "would use them up. Entries that ask at each use are shown when they are "
                + "named, each after its own question.",
            "When standard output is no terminal, the codes are printed once.",
        ])
    static let list = Page(
        summary: "list the entries",
        operands: .optionalName, options: [.readOnly],
        examples: ["watchword list", "watchword list mail", "watchword --json list"],
        details: [
            "A line for each entry, without secrets: its name, its kind, and when it asks for "
                + "you and what failing costs where that is not the usual. NAME leaves "
                + "those whose name holds it, whatever the case.",
            "A character that nobody can see is printed as \\u{200B}. Entries whose names look alike "
                + "are listed with the beginning of their ids, which every verb takes for a name.",
        ])
    static let show = Page(
        summary: "show one entry",
        operands: .name,
        options: [.uri, .qrShown, .qrPNG, .reveal, .force, .yes, .presenceCheck, .readOnly],
        examples: [
            "watchword show github",
            "watchword show github --qr",
            "watchword show github --qr-png github.png",
            "watchword show 'router password' --reveal",
        ],
        details: [
            "Without an option nothing secret is shown. --uri, --qr and --reveal ask "
                + "before they show a secret on a terminal; --yes skips the question. A "
                + "picture is written for its owner alone (0600), and never over a file "
                + "that is there without --force."
        ])
}
