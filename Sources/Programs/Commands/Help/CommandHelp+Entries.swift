import CommandLineInterface

// Adding, changing and removing entries.
extension CommandHelp {
    static let add = CommandHelp(
        summary: "add an entry",
        operands: .optionalName,
        options: [
            .uriFile, .qr, .secretFile.saying("read a key (Base32) or a plain secret from FILE"),
            .encoding, .issuer, .account, .type, .algorithm, .digits, .period, .counter, .tag,
            .note, .icon, .favourite, .presence, .reuse, .onFailure,
        ],
        examples: [
            "watchword add --qr screenshot.png",
            "watchword add --uri-file uri.txt",
            "watchword add GitHub:alice@example.com",
            "watchword add --issuer GitHub --account alice --secret-file key.txt",
            "watchword add --type steam Steam:alice",
            "watchword add VPN:alice --encoding hex --secret-file key.hex",
            "watchword add --type secret 'router password' --secret-file -",
            "watchword add Bank:alice --tag work --tag money --note 'call 555-0100'",
        ],
        details: [
            "Without --uri-file, --qr or --secret-file, the command prompts for the key; an otpauth:// "
                + "URI can be pasted there instead. Secrets are never given as arguments, because "
                + "other users can see a program's arguments: a NAME that is a URI, or looks like a "
                + "key, is refused.",
            "With --encoding hex, the key consists of pairs of hexadecimal digits, without spaces. "
                + "Keys of --type steam are Base32, too; their codes always have 5 characters and "
                + "change every 30 s.",
            "If standard output is a terminal, the command prints the first code, unless --quiet or "
                + "--json is given. It does not do so for entries that are counter-based or require "
                + "confirmation at each use.",
            "NAME is “issuer:account” or just an account, and overrides the name in a URI. If an "
                + "entry with this name exists, the command fails; rename or remove that entry.",
            "Tags, the note and the name of the icon are encrypted, but every command that unlocks the vault can show them: "
                + "do not write a secret there.",
            "With --presence per-use, the entry requires confirmation at each use, not only when "
                + "the vault is unlocked. per-use:pam requires confirmation through PAM, and "
                + "per-use:passphrase with the passphrase; no option overrides that. Plain per-use accepts "
                + "either, as chosen by --presence-check.",
            "With --reuse, a confirmation stays valid for SECONDS: until then, code and verify do not "
                + "ask again for current time-based codes of the same entry, nor do login present and "
                + "key present. "
                + "This applies only while the agent holds the vault. Older versions of Watchword "
                + "cannot open a vault that uses --reuse.",
            "With --on-failure wipe:N, N failures in a row wipe the entry. Anybody who can run "
                + "watchword can cause that, so use it only for secrets that the issuer can replace. "
                + "With lock-out, 5 failures in a row lock the entry for 1 minute, and further failures "
                + "for 5, 15, 30 and then 60 minutes.",
        ])
    static let importing = CommandHelp(
        summary: "import entries from images, other apps' exports and text files",
        operands: .optionalPaths,
        options: [
            .screen, .camera, .dryRun, .onDuplicate, .exportPasswordFile.repeatable, .keyFile,
            .includeDeleted, .raiseLimits, .verbose, .presenceCheck,
        ],
        examples: [
            "watchword import aegis-backup.json",
            "watchword import screenshots/",
            "watchword import --dry-run shots/*.png otpauth.txt",
            "watchword import --screen",
            "watchword import --export-password-file password.txt backup.2fas",
            "watchword --json import export.png --on-duplicate replace",
        ],
        details: [
            "PATH is an image, another app's export, a backup (a vault file), a text file with "
                + "otpauth:// URIs, a pipe (- for stdin), or a folder, which is searched "
                + "recursively. The file type is detected from the content. Symbolic links in "
                + "folders are skipped.",
            "Images can be PNG, JPEG, WebP, GIF, TIFF, BMP, PNM, HEIC, AVIF, SVG or PDF. Formats "
                + "other than the first three need a library; if it is missing, the message names "
                + "the package to install. At most 20 frames or pages are read.",
            "--screen takes a picture of the screen through the desktop portal or with grim, "
                + "gnome-screenshot or ImageMagick's import, and does not keep it. --camera watches the first camera for "
                + "up to a minute.",
            "A file that is encrypted to a public key is decrypted first and piped in, as with gpg "
                + "--decrypt FILE | watchword import -.",
            "The entries of a backup keep their tags, notes, access control and times.",
            "The command asks for the password of an encrypted export. --export-password-file is "
                + "for scripts; its first line is a password. If the option is given several times, "
                + "each encrypted export is tried with each password.",
            "An encrypted file of Steam Desktop Authenticator is read together with the manifest.json "
                + "beside it. KeePass' XML (keepassxc-cli export) is read, too; delete it afterwards, "
                + "because it contains every password without encryption.",
            "With --raise-limits, an export may be up to 512 MiB (instead of 128) and have ten times "
                + "as many entries as usual, and its key derivation may take 4 GiB of memory (instead of 1) "
                + "and an hour (instead of 4 minutes). Use it only for files that you trust.",
            "Each item is added, replaced, updated, skipped or refused. Items are listed for files with at "
                + "most 20 items; for larger files, only those that were not imported. Each file "
                + "gets one summary, and one line for its warnings; --verbose shows everything.",
            "Entries in the other app's trash are skipped unless --include-deleted is given. The "
                + "parts of a Google Authenticator export may be in any order; missing parts are "
                + "listed.",
            "Tags, groups, notes, names of icons and favourite marks are kept. Images of icons and archive "
                + "marks are not; the summary counts them. Keys for codes that Watchword does not compute "
                + "(Mobile-OTP, Yandex) are stored with their PINs.",
            "An entry that is already in the vault is skipped. If it is counter-based and the file "
                + "has a greater counter, its counter is raised. New tags and the favourite mark are "
                + "added, and so are a note and an icon if the entry has none. A different note is "
                + "reported, and the vault's is kept.",
            "If only the name is in the vault, with another key, the command asks on a terminal whether "
                + "to replace the entry, keep both or skip the new one. Elsewhere it refuses the "
                + "item, unless --on-duplicate says what to do. With --on-duplicate keep, entries with "
                + "the same key and different names are all kept.",
            "With --on-duplicate replace, the entry's own tags and note stay, and those of the file "
                + "are added. Entries that require confirmation at each use are "
                + "confirmed one by one before they are replaced; the key of such an entry is not "
                + "compared before.",
            "All changes are saved together at the end, so an interrupted import changes nothing. "
                + "Exit status 1 means that an item was refused.",
        ])
    static let edit = CommandHelp(
        summary: "change an entry",
        operands: .name,
        options: [
            .presence.saying("per-unlock, per-use or per-use:CHECK"), .reuse,
            .onFailure.saying("lock-out, wipe (3 failures) or wipe:N"),
            .issuer, .account, .algorithm.saying("SHA1, SHA256 or SHA512"),
            .digits.saying("length of a code, 1 to 10"),
            .period.saying("how long a code is valid"),
            .counter.saying("counter of the next code"),
            .secretFile.saying("read the new key or plain secret from FILE"),
            .encoding, .tag, .untag, .note, .icon, .favourite, .noFavourite, .presenceCheck,
        ],
        examples: [
            "watchword edit github --presence per-use",
            "watchword edit bank --presence per-use --on-failure wipe:5",
            "watchword edit bank --reuse 60",
            "watchword edit bank --counter 42",
            "watchword edit 'router password' --secret-file new.txt",
            "watchword edit github --tag work --untag private",
            "watchword edit github --icon github --favourite",
        ],
        details: [
            "Only the given properties change. An entry that requires confirmation at each use "
                + "also requires it before its key, its parameters or its access control change. "
                + "“watchword add --help” explains access control. If the agent holds the vault, a "
                + "new period, counter, algorithm or length requires the passphrase.",
            "--tag adds a tag to those that the entry has, and --untag removes one. --note and --icon "
                + "replace the note and the name of the icon; an empty text removes them. Watchword "
                + "shows no icons; their names are kept for other apps.",
            "A new key (--secret-file) of a counter-based entry starts at counter 0 unless --counter "
                + "is given. The vault's previous generation keeps the old key, encrypted, until "
                + "the next change.",
        ])
    static let rename = CommandHelp(
        summary: "rename an entry",
        operands: .nameAndNewName, options: [.presenceCheck],
        examples: [
            "watchword rename github GitHub:alice@work",
            "watchword rename GitHub:alice alice",
        ],
        details: [
            "NEW-NAME is “issuer:account” or just an account.",
            "An entry that requires confirmation at each use also requires it here.",
        ])
    static let remove = CommandHelp(
        summary: "remove an entry",
        operands: .name, options: [.yes, .purge, .presenceCheck],
        examples: ["watchword remove github", "watchword remove --yes --purge github"],
        details: [
            "The command asks for confirmation first. The vault's previous generation keeps the "
                + "entry, encrypted, until the next change; --purge erases it at once.",
            "An entry that requires confirmation at each use also requires it here.",
        ])
    static let export = CommandHelp(
        summary: "write a backup, entries for another app, or a sheet for printing",
        operands: .none,
        options: [
            .format, .output, .only, .plain,
            .exportPasswordFile.saying("read the new password from FILE (- for stdin)"),
            .force, .verbose, .yes, .skipPerUse, .presenceCheck, .readOnly,
        ],
        examples: [
            "watchword export --format watchword -o backup.vault",
            "watchword export --format aegis -o aegis.json --only work",
            "watchword export --format 2fas --plain -o backup.2fas --only mail --only bank",
            "watchword export --format google -o phone.png",
            "watchword export --format sheet -o sheet.html",
            "watchword export | age --passphrase >backup.age",
        ],
        details: [
            "watchword import reads every FORMAT. watchword is a vault file with a passphrase of its "
                + "own, which keeps every detail of an entry, and which --vault opens, too. otpauth (the default) "
                + "is one otpauth:// URI per line. aegis and 2fas are for these apps. google is for "
                + "Google Authenticator: QR codes with at most 10 entries in each; FILE gets a number "
                + "if there are several. sheet is an HTML page for printing, with a QR code and the "
                + "text of each entry.",
            "watchword, aegis and 2fas files are encrypted with a new password, for which the command "
                + "asks; aegis and 2fas only without --plain. The other formats contain the keys in "
                + "plain text. 2fas does not encrypt the names of tags.",
            "--only exports the entries that have the tag TAG or, if none has it, those whose names "
                + "contain NAME, as in watchword list. A file is readable only by its "
                + "owner. It replaces an existing file only with --force, and never replaces a vault. On a "
                + "terminal, the command asks before it shows keys in the formats otpauth and google, "
                + "unless --yes is given.",
            "What a format cannot hold is reported, in one line for each kind of loss; --verbose adds the "
                + "names of the entries. Entries that it cannot hold are left out, with exit status "
                + "1: plain secrets, for example, which only watchword holds. The same applies to an entry "
                + "that has lost its secret, and that watchword undo may restore. Only watchword keeps "
                + "access control and the time when an entry was added.",
            "Enrolled secrets are never exported: the server would treat the copy as stolen, "
                + "and have both wiped.",
            "Entries that require confirmation at each use are confirmed one by one before "
                + "anything is written: the export is complete or empty. --skip-per-use skips these "
                + "entries with a warning.",
        ])
}
