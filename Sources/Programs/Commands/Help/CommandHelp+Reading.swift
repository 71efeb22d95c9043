import CommandLineInterface

// Reading entries.
extension CommandHelp {
    static let code = CommandHelp(
        summary: "print the codes of entries",
        operands: .someNames,
        options: [.copy, .clearAfter, .at, .next, .presenceCheck, .readOnly],
        examples: [
            "watchword code github",
            "watchword code github mail",
            "watchword code GitHub:alice@example.com --next",
            "watchword code github --copy",
            "watchword code bank -c --clear-after 20",
            "watchword --json code github",
            "watchword code github --at 2026-11-21T01:09:30Z",
        ],
        details: [
            "Prints only the code and a line break; with several NAMEs, each code with its entry's name. "
                + "NAME is an entry's full name, or words in any "
                + "order that only its name contains. If no name contains them, tags and notes are "
                + "searched, too. Case and accents are ignored.",
            "All names are looked up before the first code is computed.",
            "--copy puts one code on the clipboard: with wl-copy on Wayland, xclip or xsel on X11, and "
                + "over SSH with an escape sequence for the terminal (OSC 52). --copy=HOW chooses: "
                + "wl-copy, xclip, xsel or osc52. The clipboard is cleared when the code expires, "
                + "and after at most 45 s, if it still holds the code; --clear-after sets another time. A "
                + "terminal's clipboard cannot be read and is not cleared. In tmux, set-clipboard must "
                + "be on. Only newer versions of wl-copy can mark the code as secret, so that clipboard "
                + "managers do not keep it.",
            "The new counter of a counter-based entry is stored before the code is printed.",
            "An entry that requires confirmation at each use is confirmed through PAM (service "
                + "“watchword”) if it is configured, and otherwise with the passphrase. The passphrase "
                + "that unlocked the vault also confirms the first use.",
            "If the vault is unlocked in the agent, a code for a time more than 5 minutes ahead requires "
                + "what opens the vault again.",
        ])
    static let watch = CommandHelp(
        summary: "show codes as they change",
        operands: .names,
        options: [
            .sort, .idleTime, .copy.saying("copy with HOW, as with code"), .clearAfter,
            .presenceCheck, .readOnly,
        ],
        examples: [
            "watchword watch", "watchword watch github mail", "watchword watch --idle 5m",
        ],
        details: [
            "Shows a live list of codes and the seconds left, until you press q or Ctrl-C, or press "
                + "no key for 15 minutes; then the previous screen is restored. The arrow keys, PgUp and "
                + "PgDn select a code, Enter copies it as “code --copy” does, and / filters the list "
                + "as you type. Counter-based entries are skipped, because showing a "
                + "code uses it up. Entries that require confirmation at each use are shown only if "
                + "named, and confirmed one by one.",
            "Codes are sorted by issuer and account; those of named entries are in the given order, "
                + "unless --sort is given. --sort used begins with the entry for which code, show or "
                + "login present was used last on this machine.",
            "If standard output is not a terminal, the codes are printed once.",
        ])
    static let pick = CommandHelp(
        summary: "choose an entry from a list, and copy its code",
        operands: .optionalName,
        options: [
            .sort, .idleTime, .copy.saying("copy with HOW, as with code"), .clearAfter,
            .presenceCheck, .readOnly,
        ],
        examples: ["watchword pick", "watchword pick work", "watchword pick --copy=osc52"],
        details: [
            "Shows the entries that have codes. Typing filters the list, as in watchword list; NAME is "
                + "the first filter. The arrow keys, PgUp and PgDn select an entry. Enter copies its "
                + "code as “code --copy” does, Ctrl-P prints it on standard output, and Escape ends "
                + "the command, and so do 15 minutes without a key press.",
            "To choose with another program: watchword code \"$(watchword list --names | fzf)\"",
        ])
    static let list = CommandHelp(
        summary: "list the entries",
        operands: .optionalName, options: [.tagged, .sort, .names, .agentOnly, .readOnly],
        examples: [
            "watchword list",
            "watchword list 'alice mail'",
            "watchword list --tag work --sort added",
            "watchword list --sort used",
            "watchword list --names | fzf",
            "watchword --json list",
        ],
        details: [
            "Prints one line for each entry, without secrets: its name, its type, its access "
                + "control if it is not the default, whether it is a favourite, and its tags. With NAME, lists only entries whose "
                + "names, tags or notes contain its words; with --tag, only those with every given "
                + "tag. Case and accents are ignored. On a terminal, long lines are truncated.",
            "--names prints only the names, in full and one per line, for programs such as fzf, rofi and "
                + "dmenu. With --agent-only, the command never prompts: it prints nothing, with status 1, "
                + "unless the agent holds the vault.",
            "Invisible characters are printed as escapes such as \\u{200B}. If several names look "
                + "alike, the beginning of each entry's id is also printed; every command accepts "
                + "it as NAME.",
        ])
    static let show = CommandHelp(
        summary: "show an entry's details, or its secret",
        operands: .name,
        options: [.uri, .qrShown, .qrPNG, .reveal, .force, .yes, .presenceCheck, .readOnly],
        examples: [
            "watchword show github",
            "watchword show github --qr",
            "watchword show github --qr-png github.png",
            "watchword show 'router password' --reveal",
        ],
        details: [
            "Without options, no secret is shown. On a terminal, --uri, --qr and --reveal ask "
                + "before they show a secret, unless --yes is given. Image files are readable by "
                + "their owner only (mode 0600) and do not overwrite a file unless --force is given."
        ])
}
