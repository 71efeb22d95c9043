import Arguments

extension Option {
    // Everywhere.
    static let vault = Option("vault", .file, "the vault (else $WATCHWORD_VAULT)")
    static let passphraseFile = Option(
        "passphrase-file", .file, "take the passphrase from the first line of FILE; - is stdin")
    static let recoveryKeyFile = Option(
        "recovery-key-file", .file, "unlock with the recovery key in FILE instead; - is stdin")
    static let recoveryKey = Option(
        "recovery-key", "unlock with the recovery key; the terminal asks for it")
    static let maxUnlockCost = Option(
        "max-unlock-cost", .text("10…28"),
        "how much unlocking may cost, a power of two like --scrypt-log-n; default 20")
    static let json = Option("json", "print JSON, one object a line")
    static let quiet = Option("quiet", short: "q", "no warnings and no notes")

    /// What every verb takes.
    static let global: [Option] = [
        .vault, .passphraseFile, .recoveryKey, .recoveryKeyFile, .maxUnlockCost, .json, .quiet,
        .help, .version,
    ]

    /// What verbs take that save nothing.
    static let readOnly = Option(
        "read-only", "open a vault that can't be written; failures are not counted")

    // Where secrets come from.
    static let secretFile = Option(
        "secret-file", .file, "the key in Base32; - is stdin, without it the terminal asks")
    static let uriFile = Option("uri-file", .file, "an otpauth:// address in FILE; - is stdin")
    static let qr = Option("qr", .file, "a picture of a QR symbol")
    static let textFile = Option("text-file", .file, "the text of the symbol; - is stdin")
    static let newPassphraseFile = Option(
        "new-passphrase-file", .file, "the new passphrase, first line of FILE; - is stdin")

    // What an entry is.
    static let issuer = Option("issuer", .text("TEXT"), "who hands out the account")
    static let account = Option("account", .text("TEXT"), "the account at the issuer")
    static let type = Option("type", .choice(["totp", "hotp", "secret"]), "default totp")
    static let algorithm = Option(
        "algorithm", .choice(["SHA1", "SHA256", "SHA512"]), "default SHA1")
    static let digits = Option("digits", .text("N"), "digits of a code, 1 to 10; default 6")
    static let period = Option("period", .text("SECONDS"), "seconds a code lasts; default 30")
    static let counter = Option("counter", .text("N"), "the counter's value; default 0")

    // Who must be there before it opens, and what failing costs.
    static let presence = Option(
        "presence", .beginning(["per-unlock", "per-use"], "per-unlock|per-use[:CHECK]"),
        "when you are asked; default per-unlock")
    static let onFailure = Option(
        "on-failure", .beginning(["lock-out", "wipe"], "lock-out|wipe[:N]"),
        "what failing costs; default lock-out, wipe alone is wipe:3")

    static let skipPerUse = Option(
        "skip-per-use", "leave out the entries that ask at each use, and name them")
    static let presenceCheck = Option(
        "presence-check", .choice(["auto", "passphrase", "pam"]),
        "for entries that accept any check; default auto: PAM where it is set up")

    // Which code.
    static let at = Option("at", .text("TIME"), "Unix seconds or RFC 3339; default now")
    static let next = Option("next", "the code after the present one")
    static let start = Option("t0", .text("TIME"), "when counting of periods began; default 0")
    static let count = Option("count", .text("N"), "that many codes in a row; default 1")
    static let window = Option(
        "window", .text("BEHIND,AHEAD"),
        "steps accepted around the expected one; default 1,1 (0,10 for counters)")

    // What is shown and written.
    static let uri = Option("uri", "print the otpauth:// address, which holds the key")
    static let qrShown = Option("qr", "show the entry as a QR symbol, which holds the key")
    static let qrPNG = Option("qr-png", .file, "write the QR symbol as a PNG picture")
    static let reveal = Option("reveal", "print a plain secret")
    static let png = Option("png", .file, "write a PNG picture")
    static let svg = Option("svg", .file, "write an SVG picture")
    static let force = Option("force", "write over a file that is there")
    static let yes = Option("yes", short: "y", "answer yes to the question asked before")

    // The vault.
    static let noRecoveryKey = Option("no-recovery-key", "make no recovery key")
    static let slot = Option("slot", .text("NUMBER"), "change the passphrase of this slot")
    static let keepKey = Option(
        "keep-key", "keep the vault's key: what opened older copies goes on opening new entries")
    static let scryptLogN = Option(
        "scrypt-log-n", .text("10…24"), "cost of the passphrase, a power of two; default 17")
    static let dryRun = Option("dry-run", "say what would happen, and change nothing")
    static let onDuplicate = Option(
        "on-duplicate", .choice(["skip", "replace", "keep"]), "an entry that is there; default skip"
    )
    static let purge = Option("purge", "also erase the vault's previous generation")

    // Signing in.
    static let server = Option("server", .text("URL"), "the server's address, https://…")
    static let ticketFile = Option(
        "ticket-file", .file, "the enrolment ticket, first line of FILE; - is stdin")
    static let caFile = Option(
        "ca-file", .file, "trust the authorities in FILE (PEM) instead of the system's")
    static let deviceName = Option(
        "device-name", .text("TEXT"), "what the account's list of devices calls this one")
}
