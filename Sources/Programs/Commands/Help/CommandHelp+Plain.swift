import CommandLineInterface

// Commands that need no vault.
extension CommandHelp {
    static let totp = CommandHelp(
        summary: "print a time-based code without a vault",
        operands: .none,
        options: [.secretFile, .algorithm, .digits, .period, .at, .start, .count],
        examples: [
            "watchword totp --secret-file key.txt",
            "watchword totp --secret-file - --digits 8 --algorithm SHA256 <key.txt",
            "watchword totp --secret-file key.txt --at 2026-11-21T01:09:30Z --count 3",
        ],
        details: [
            "See RFC 6238. Without --secret-file, the command prompts for the key. The key is Base32 "
                + "(RFC 4648); lower case, spaces and dashes are accepted."
        ])
    static let hotp = CommandHelp(
        summary: "print a counter-based code without a vault",
        operands: .none, options: [.secretFile, .algorithm, .digits, .counter, .count],
        examples: [
            "watchword hotp --secret-file key.txt --counter 0",
            "watchword hotp --secret-file key.txt --counter 7 --count 10",
        ],
        details: [
            "See RFC 4226. Without --secret-file, the command prompts for the key. The counter is not "
                + "stored."
        ])
    static let verify = CommandHelp(
        summary: "check a code",
        operands: .oneAndOptionalName("CODE"),
        options: [
            .secretFile, .window, .type.saying("with --secret-file: totp (default) or hotp"),
            .algorithm, .digits, .period, .at, .start,
            .counter.saying("with --type hotp: the next expected counter"),
            .presenceCheck, .readOnly,
        ],
        examples: [
            "watchword verify 492039 github",
            "watchword verify 492039 --secret-file key.txt",
            "watchword verify 492039 --secret-file key.txt --window 2,0",
        ],
        details: [
            "If the code matches, prints the offset of the matching step (0 for the expected one) "
                + "and exits with status 0; otherwise exits with status 1.",
            "The command does not remember used codes, so a code keeps matching until its window "
                + "has passed. To authenticate users, a verifier must accept each code only once.",
            "While the agent holds the vault, a window of more than 10 codes ahead requires the "
                + "passphrase again, or the confirmation that the entry requires.",
        ])
    static let qrRead = CommandHelp(
        summary: "print the text of QR codes in images",
        operands: .paths, options: [.yes],
        examples: [
            "watchword qr read ticket.png", "watchword --json qr read shots/*.png",
            "watchword qr read - <ticket.png",
        ],
        details: [
            "Prints one line for each QR code. On a terminal, the command asks before it prints "
                + "text that contains a key, unless --yes is given. In JSON, text that is not UTF-8 "
                + "is in “base64” instead of “text”.",
            "If PATH is -, the image is read from standard input. The formats are those of import.",
        ])
    static let qrWrite = CommandHelp(
        summary: "create a QR code",
        operands: .none, options: [.textFile, .png, .svg, .force],
        examples: [
            "watchword qr write --text-file text.txt",
            "watchword qr write --text-file - --png code.png <text.txt",
            "watchword qr write --text-file text.txt --svg code.svg",
        ],
        details: [
            "Without --png or --svg, the QR code is printed on standard output. A final line break "
                + "in the text is ignored. Image files are readable by their owner only (mode 0600)."
        ])
    static let completions = CommandHelp(
        summary: "print a shell's completion script",
        operands: .word(CompletionScript.Shell.allCases.map(\.rawValue)), options: [],
        examples: [
            "watchword completions bash >/etc/bash_completion.d/watchword",
            "watchword completions zsh >/usr/local/share/zsh/site-functions/_watchword",
            "watchword completions fish >~/.config/fish/completions/watchword.fish",
        ],
        details: [
            "The script completes commands, options and files, and the names of entries while the "
                + "agent holds the vault. It never prompts: it runs watchword list --names --agent-only."
        ])
    static let manual = CommandHelp(
        summary: "print the manual page",
        operands: .none, options: [],
        examples: [
            "watchword manual | man -l -",
            "watchword manual >/usr/local/share/man/man1/watchword.1",
        ],
        details: ["The format is mdoc."])
}
