import CommandLineInterface
import Devices

extension Option {
    // Global options.
    static let vault = Option("vault", .file, "use the vault in FILE (default: $WATCHWORD_VAULT)")
    static let passphraseFile = Option(
        "passphrase-file", .file, "passphrase in FILE (or $WATCHWORD_PASSPHRASE_FILE)"
    ).settableByEnvironment
    static let recoveryKeyFile = Option(
        "recovery-key-file", .file, "read the recovery key from FILE (- for stdin)")
    static let recoveryKey = Option("recovery-key", "unlock with the recovery key; prompt for it")
    static let maxUnlockCost = Option(
        "max-unlock-cost", .text("10…28"), "limit for the scrypt cost of unlocking (default 20)")
    static let noClockWarning = Option(
        "no-clock-warning", "do not warn about an unsynchronised clock")

    static let unlockWith = Option(
        "unlock-with", .choice(["passphrase", "tpm2", "fido2"]), placeholder: "METHOD",
        "passphrase, tpm2 or fido2 (default: any)")
    static let pinFile = Option(
        "pin-file", .file, "read the PIN of a TPM or authenticator from FILE")
    static let tpm = Option("tpm", .text("ADDRESS"), "TPM (default device:/dev/tpmrm0)")

    static let toSystem = Option("to-system", "move the vault to the system agent")
    static let toUser = Option("to-user", "move the vault back to your own folder")
    static let noAgent = Option("no-agent", "do not use the agent")

    /// The options that every verb accepts.
    static let global: [Option] = [
        .vault, .passphraseFile, .recoveryKey, .recoveryKeyFile, .maxUnlockCost, .unlockWith,
        .pinFile, .tpm, .noAgent, .json, .quiet, .noClockWarning, .help, .version,
    ]

    /// For verbs that save nothing.
    static let readOnly = Option("read-only", "open a vault that cannot be written")

    // Sources of secrets.
    static let secretFile = Option(
        "secret-file", .file, "read the key (Base32) from FILE (- for stdin)")
    static let uriFile = Option("uri-file", .file, "read an otpauth:// URI from FILE (- for stdin)")
    static let qr = Option("qr", .file, "read a QR code from an image")
    static let textFile = Option("text-file", .file, "read the text from FILE (- for stdin)")
    static let newPassphraseFile = Option(
        "new-passphrase-file", .file, "read the new passphrase from FILE (- for stdin)")

    // Properties of an entry.
    static let issuer = Option("issuer", .text("TEXT"), "service that issued the key")
    static let account = Option("account", .text("TEXT"), "account at the issuer")
    static let type = Option(
        "type", .choice(["totp", "hotp", "steam", "secret"]), placeholder: "TYPE",
        "totp (default), hotp, steam or secret")
    static let algorithm = Option(
        "algorithm", .choice(["SHA1", "SHA256", "SHA512"]), placeholder: "NAME",
        "SHA1 (default), SHA256 or SHA512")
    static let digits = Option("digits", .text("N"), "length of a code, 1 to 10 (default 6)")
    static let period = Option("period", .text("SECONDS"), "how long a code is valid (default 30)")
    static let counter = Option("counter", .text("N"), "counter (default 0)")
    static let encoding = Option(
        "encoding", .choice(["base32", "hex"]), "how the key is written (default base32)")

    static let tag = Option("tag", .text("TAG"), "add a tag; repeat for several").repeatable
    static let tagged = Option("tag", .text("TAG"), "list entries with TAG; repeat for several")
        .repeatable
    static let sort = Option(
        "sort", .choice(["name", "added", "used"]),
        "name (default), added, or used (most recent first)")
    static let names = Option("names", "print only the names")
    static let agentOnly = Option("agent-only", "print nothing unless the agent holds the vault")
    static let untag = Option("untag", .text("TAG"), "remove a tag; repeat for several").repeatable
    static let note = Option("note", .text("TEXT"), "set the note (- for stdin)")
    static let icon = Option("icon", .text("NAME"), "set the name of the icon")
    static let favourite = Option("favourite", "mark as a favourite")
    static let noFavourite = Option("no-favourite", "remove the favourite mark")

    // Access control.
    static let presence = Option(
        "presence", .beginning(["per-unlock", "per-use"], "WHEN"),
        "per-unlock (default), per-use, per-use:CHECK")
    static let onFailure = Option(
        "on-failure", .beginning(["lock-out", "wipe"], "ACTION"),
        "lock-out (default), wipe (3 failures), wipe:N")

    static let reuse = Option(
        "reuse", .text("SECONDS"), "per-use: a check stays valid for 0 to 300 SECONDS")

    static let skipPerUse = Option(
        "skip-per-use", "skip entries that need confirmation at each use")
    static let presenceCheck = Option(
        "presence-check", .choice(["auto", "passphrase", "pam"]), placeholder: "CHECK",
        "auto (PAM if configured), passphrase or pam")

    // The clipboard, and lists on the screen.
    static let copy = Option(
        "copy", short: "c", .optionalChoice(["auto"] + ClipboardRoute.words, "HOW"),
        "copy the code instead of printing it")
    static let clearAfter = Option(
        "clear-after", .text("SECONDS"), "clear the clipboard after SECONDS (0: never)")
    static let idleTime = Option(
        "idle", .text("TIME"), "end after TIME without a key press (15m; 0: never)")

    // The code to compute.
    static let at = Option("at", .text("TIME"), "time in Unix seconds or RFC 3339 (default: now)")
    static let next = Option("next", "print the code after the current one")
    static let start = Option("t0", .text("TIME"), "start of the first period (default 0)")
    static let count = Option("count", .text("N"), "number of consecutive codes (default 1)")
    static let window = Option(
        "window", .text("BEHIND,AHEAD"), "accepted steps (default 1,1; hotp: 0,10)")

    // Output.
    static let uri = Option("uri", "print the otpauth:// URI, which contains the key")
    static let qrShown = Option("qr", "print a QR code, which contains the key")
    static let qrPNG = Option("qr-png", .file, "write the QR code as a PNG file")
    static let reveal = Option("reveal", "print a plain secret")
    static let png = Option("png", .file, "write a PNG file")
    static let svg = Option("svg", .file, "write an SVG file")
    static let force = Option("force", "overwrite an existing file")
    static let yes = Option("yes", short: "y", "do not ask for confirmation")

    // The vault.
    static let noRecoveryKey = Option("no-recovery-key", "do not create a recovery key")
    static let slot = Option("slot", .text("NUMBER"), "slot whose passphrase changes")
    static let keepKey = Option("keep-key", "keep the vault's key")
    static let scryptLogN = Option(
        "scrypt-log-n", .text("10…24"), "log2 of the scrypt cost N (default 17)")
    static let noPIN = Option("no-pin", "add a device that opens the vault without a PIN")
    static let pcr7 = Option("pcr7", "tpm2: bind the slot to the state of Secure Boot")
    static let device = Option("device", .text("PATH"), "fido2: the authenticator to use")
    static let dryRun = Option("dry-run", "show the changes without making them")
    static let onDuplicate = Option(
        "on-duplicate", .choice(["skip", "replace", "keep"]), placeholder: "ACTION",
        "skip (default), replace, keep (both)")
    static let exportPasswordFile = Option(
        "export-password-file", .file, "read an export's password from FILE (- for stdin)")
    static let keyFile = Option("key-file", .file, "read the key file of a KeePass database")
    static let raiseLimits = Option(
        "raise-limits", "accept larger exports and costlier encryption")
    static let includeDeleted = Option(
        "include-deleted", "also import entries from the other app's trash")
    static let screen = Option("screen", "take a screenshot and read its QR codes")
    static let camera = Option("camera", "read the first key that the camera sees")
    static let verbose = Option("verbose", "show each item and each warning")
    static let acceptWipes = Option(
        "accept-wipes", "also wipe the entries that FILE has lost")
    static let into = Option(
        "into", .file, "merge into FILE, a copy of the vault (for git)")
    static let oldEdits = Option(
        "old-edits", .choice(["keep", "take"]), placeholder: "ACTION",
        "keep ours or take FILE’s if neither proves newer")
    static let copyPassphraseFile = Option(
        "copy-passphrase-file", .file, "read its passphrase from FILE (- for stdin)")
    static let format = Option(
        "format", .choice(ExportRequest.Format.words), placeholder: "FORMAT",
        "what to write (default otpauth)")
    static let output = Option(
        "output", short: "o", .file, "write to FILE (mode 0600; - for stdout)")
    static let only = Option(
        "only", .text("TAG|NAME"), "export only matching entries; repeat for several"
    ).repeatable
    static let plain = Option("plain", "do not encrypt an aegis or 2fas file")
    static let purge = Option("purge", "also erase the vault's previous generation")

    // The agent.
    static let idle = Option(
        "idle", .text("TIME"), "lock after TIME without use (default 15m)")
    static let atMost = Option("at-most", .text("TIME"), "lock after TIME in any case (default 8h)")
    static let unlockedMemory = Option(
        "unlocked-memory", "allow memory that can be swapped if none can be locked")
    static let allVaults = Option("all", "lock all vaults")

    // Signing in.
    static let server = Option("server", .text("URL"), "the server's https:// URL")
    static let ticketFile = Option(
        "ticket-file", .file, "read the enrolment ticket from FILE (- for stdin)")
    static let caFile = Option("ca-file", .file, "trusted CA certificates in PEM format")
    static let pin = Option("pin", "let the TPM require a PIN before each signature")
    static let attest = Option("attest", "let the TPM prove to the server that it has the key")
    static let custody = Option(
        "custody", .choice(["tpm", "vault"]), placeholder: "PLACE",
        "tpm or vault (default: tpm if there is one)")
    static let challengeFile = Option(
        "challenge-file", .file, "read the text to confirm from FILE (- for stdin)")
    static let deviceName = Option(
        "device-name", .text("TEXT"), "name in the account's list of devices")
}
