import Arguments

// What needs no vault.
extension Page {
    static let totp = Page(
        summary: "print a time-based code without a vault",
        operands: .none,
        options: [.secretFile, .algorithm, .digits, .period, .at, .start, .count],
        examples: [
            "watchword totp --secret-file key.txt",
            "watchword totp --secret-file - --digits 8 --algorithm SHA256 <key.txt",
            "watchword totp --secret-file key.txt --at 2026-11-21T01:09:30Z --count 3",
        ],
        details: [
            "RFC 6238. The key is Base32 (RFC 4648) as issuers print it: lower case, "
                + "spaces and dashes do no harm."
        ])
    static let hotp = Page(
        summary: "print a counter-based code without a vault",
        operands: .none, options: [.secretFile, .algorithm, .digits, .counter, .count],
        examples: [
            "watchword hotp --secret-file key.txt --counter 0",
            "watchword hotp --secret-file key.txt --counter 7 --count 10",
        ],
        details: ["RFC 4226. Nothing is stored: the caller counts."])
    static let verify = Page(
        summary: "tell whether a code is right",
        operands: .oneAndOptionalName("CODE"),
        options: [
            .secretFile, .window, .type.saying("with --secret-file; default totp"),
            .algorithm, .digits, .period, .at, .start,
            .counter.saying("with --type hotp: the value expected next"),
            .presenceCheck, .readOnly,
        ],
        examples: [
            "watchword verify 492039 github",
            "watchword verify 492039 --secret-file key.txt",
            "watchword verify 492039 --secret-file key.txt --window 2,0",
        ],
        details: [
            "Prints the offset of the step that matched, 0 for the expected one, and exits "
                + "with 0; with 1 when none in the window matched. A code stays right for "
                + "as long as its window lasts: whoever lets people in by codes must "
                + "remember the last one, and this verb remembers nothing."
        ])
    static let qrRead = Page(
        summary: "print the text of the symbols in pictures",
        operands: .paths, options: [.yes],
        examples: [
            "watchword qr read ticket.png", "watchword --json qr read shots/*.png",
            "watchword qr read - <ticket.png",
        ],
        details: [
            "A line for each symbol. A text that holds a key is shown on a terminal after "
                + "a question only; --yes skips it. In JSON a text that is no UTF-8 comes "
                + "as “base64” instead of “text”.",
            "A PATH of - is the picture on standard input.",
        ])
    static let qrWrite = Page(
        summary: "draw a QR symbol",
        operands: .none, options: [.textFile, .png, .svg, .force],
        examples: [
            "watchword qr write --text-file text.txt",
            "watchword qr write --text-file - --png symbol.png <text.txt",
            "watchword qr write --text-file text.txt --svg symbol.svg",
        ],
        details: [
            "Without --png and --svg the symbol is shown on standard output. One line end "
                + "at the end of the text is left out. Pictures are written for their "
                + "owner alone (0600)."
        ])
    static let completions = Page(
        summary: "print the completions of a shell",
        operands: .word(["bash", "zsh", "fish"]), options: [],
        examples: [
            "watchword completions bash >~/.local/share/bash-completion/completions/watchword",
            "watchword completions zsh >/usr/local/share/zsh/site-functions/_watchword",
            "watchword completions fish >~/.config/fish/completions/watchword.fish",
        ],
        details: [
            "Verbs, options and files are completed. Names of entries are not: they are "
                + "inside the vault, which completing never opens."
        ])
    static let manual = Page(
        summary: "print the manual page",
        operands: .none, options: [],
        examples: [
            "watchword manual | man -l -",
            "watchword manual >/usr/local/share/man/man1/watchword.1",
        ],
        details: ["In the mdoc format that man reads."])
}
