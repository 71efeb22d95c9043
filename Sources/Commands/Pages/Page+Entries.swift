import Arguments

// Entries come, change and go.
extension Page {
    static let add = Page(
        summary: "add one entry",
        operands: .optionalName,
        options: [
            .uriFile, .qr, .secretFile.saying("the key in Base32, or a plain secret's bytes"),
            .issuer, .account, .type, .algorithm, .digits, .period, .counter, .presence, .onFailure,
        ],
        examples: [
            "watchword add --qr screenshot.png",
            "watchword add --uri-file address.txt",
            "watchword add GitHub:alice@example.com",
            "watchword add --issuer GitHub --account alice --secret-file key.txt",
            "watchword add --type secret 'router password' --secret-file -",
        ],
        details: [
            "With none of --uri-file, --qr and --secret-file the terminal asks for the key. "
                + "No secret is ever an argument: arguments can be seen by every user of "
                + "the machine.",
            "NAME is “issuer:account” or an account alone; it goes before what an address "
                + "says. An entry of the same name is not replaced; remove or rename it.",
            "--presence per-use asks for you each time the entry is used, not only when the "
                + "vault is unlocked. per-use:pam demands the system's check (PAM) and "
                + "per-use:passphrase the passphrase; no option changes that. Plain per-use accepts "
                + "either, as --presence-check chooses. --on-failure wipe:N gives the secret up after N failures "
                + "in a row; whoever can run watchword can bring that about, so keep it "
                + "for what its issuer hands out again. lock-out makes further tries wait, 1, "
                + "5, 15, 30, then 60 minutes, after 5 failures.",
        ])
    static let importing = Page(
        summary: "add what pictures and files hold",
        operands: .paths, options: [.dryRun, .onDuplicate, .presenceCheck],
        examples: [
            "watchword import screenshots/",
            "watchword import --dry-run shots/*.png otpauth.txt",
            "watchword --json import export.png --on-duplicate replace",
        ],
        details: [
            "PATH is a picture (PNG, JPEG, WebP), a text file with otpauth:// lines, or a "
                + "folder, which is walked to its depth in the order of names; symbolic "
                + "links in it are not followed. Files are told apart by content.",
            "Each thing found, read or refused is told on a line: added, replaced, "
                + "skipped or refused. The parts of a Google Authenticator export are put "
                + "together whatever their order, and the missing ones are named.",
            "--on-duplicate replace asks for you before it replaces the key of an entry that asks at "
                + "each use, once for each such entry.",
            "Everything is saved at once at the end: an interruption changes nothing. "
                + "Exit status 1 means that something was refused.",
        ])
    static let edit = Page(
        summary: "change an entry",
        operands: .name,
        options: [
            .presence.saying("when you are asked"), .onFailure.saying("what failing costs"),
            .issuer, .account, .algorithm.saying("how codes are made"),
            .digits.saying("digits of a code, 1 to 10"),
            .period.saying("seconds a code lasts"),
            .counter.saying("the counter of the next code"),
            .secretFile.saying("the new key in Base32, or a plain secret's new bytes"),
            .presenceCheck,
        ],
        examples: [
            "watchword edit github --presence per-use",
            "watchword edit bank --presence per-use --on-failure wipe:5",
            "watchword edit bank --counter 42",
            "watchword edit 'router password' --secret-file new.txt",
        ],
        details: [
            "What is not named stays as it is. An entry that asks for you at each use asks "
                + "before its key, its codes or its protection change, too.",
            "A new key (--secret-file) of a counter-based entry starts at 0 unless --counter "
                + "says otherwise. The previous generation of the vault holds the old key, "
                + "sealed, until the next save.",
        ])
    static let rename = Page(
        summary: "give an entry another name",
        operands: .nameAndNewName, options: [],
        examples: [
            "watchword rename github GitHub:alice@work",
            "watchword rename GitHub:alice alice",
        ],
        details: ["NEW-NAME is “issuer:account” or an account alone."])
    static let remove = Page(
        summary: "remove an entry",
        operands: .name, options: [.yes, .purge],
        examples: ["watchword remove github", "watchword remove --yes --purge github"],
        details: [
            "Asks before it does so. The vault's previous generation still holds the "
                + "entry, sealed, until the next save; --purge erases it at once."
        ])
    static let export = Page(
        summary: "print every entry as an otpauth line",
        operands: .none, options: [.yes, .skipPerUse, .presenceCheck, .readOnly],
        examples: [
            "watchword export >backup.txt",
            "watchword export --skip-per-use >backup.txt",
            "watchword export | age --passphrase >backup.age",
        ],
        details: [
            "The lines hold the keys. On a terminal it asks before it prints them; --yes "
                + "skips the question. Plain secrets are no one-time passwords and are "
                + "left out, with a note.",
            "Entries that ask at each use ask, one by one, before the first line is printed: "
                + "all is exported, or nothing. --skip-per-use leaves them out and names them.",
        ])
}
