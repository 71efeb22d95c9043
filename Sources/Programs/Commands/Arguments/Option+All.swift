import CommandLineInterface
import Devices
import SecretVault

extension Option {
    static let vault = Option("vault", .file)
    static let passphraseFile = Option("passphrase-file", .file).settableByEnvironment
    static let recoveryKeyFile = Option("recovery-key-file", .file)
    static let recoveryKey = Option("recovery-key")
    static let maxUnlockCost = Option("max-unlock-cost", .text("10…28"))
    static let noClockWarning = Option("no-clock-warning")

    static let unlockWith = Option(
        "unlock-with", .choice(["passphrase", "tpm2", "fido2"]), placeholder: "METHOD")
    static let pinFile = Option("pin-file", .file)
    static let tpm = Option("tpm", .text("ADDRESS"))

    static let toSystem = Option("to-system")
    static let toUser = Option("to-user")
    static let noAgent = Option("no-agent")

    /// The options that every verb accepts.
    static let global: [Option] = [
        .vault, .passphraseFile, .recoveryKey, .recoveryKeyFile, .maxUnlockCost, .unlockWith,
        .pinFile, .tpm, .noAgent, .json, .quiet, .noClockWarning, .help, .version,
    ]

    /// Options of verbs that save nothing.
    static let readOnly = Option("read-only")

    static let secretFile = Option("secret-file", .file)
    static let uriFile = Option("uri-file", .file)
    static let qr = Option("qr", .file)
    static let textFile = Option("text-file", .file)
    static let newPassphraseFile = Option("new-passphrase-file", .file)

    // Properties of an entry.
    static let issuer = Option("issuer", .text("TEXT"))
    static let account = Option("account", .text("TEXT"))
    static let type = Option(
        "type", .choice(["totp", "hotp", "steam", "secret"]), placeholder: "TYPE")
    static let algorithm = Option(
        "algorithm", .choice(["SHA1", "SHA256", "SHA512"]), placeholder: "NAME")
    static let digits = Option("digits", .text("N"))
    static let period = Option("period", .text("SECONDS"))
    static let counter = Option("counter", .text("N"))
    static let encoding = Option("encoding", .choice(["base32", "hex"]))

    static let tag = Option("tag", .listed("TAG", by: tags.name)).repeatable
    static let sort = Option("sort", .choice(["name", "added", "used"]))
    static let names = Option("names")
    static let tags = Option("tags")
    static let agentOnly = Option("agent-only")
    static let untag = Option("untag", .listed("TAG", by: tags.name)).repeatable
    static let note = Option("note", .text("TEXT"))
    static let icon = Option("icon", .text("NAME"))
    static let favourite = Option("favourite")
    static let noFavourite = Option("no-favourite")

    static let presence = Option("presence", .beginning(["per-unlock", "per-use"], "WHEN"))
    static let onFailure = Option("on-failure", .beginning(["lock-out", "wipe"], "ACTION"))

    static let reuse = Option("reuse", .text("SECONDS"))

    // Options for the devices on which an entry opens.
    static let thisDevice = Option(
        "this-device", .optionalChoice(DeviceBinding.allCases.map(\.rawValue), "BINDING"))
    static let noThisDevice = Option("no-this-device")
    static let fingers = Option("fingers", .choice(["current", "any"]))

    static let skipPerUse = Option("skip-per-use")
    static let presenceCheck = Option(
        "presence-check", .choice(["auto", "passphrase", "pam"]), placeholder: "CHECK")

    // The clipboard, and lists on the screen.
    static let copy = Option(
        "copy", short: "c", .optionalChoice(["auto"] + ClipboardRoute.words, "HOW"))
    static let clearAfter = Option("clear-after", .text("SECONDS"))

    // The code to compute.
    static let at = Option("at", .text("TIME"))
    static let next = Option("next")
    static let start = Option("t0", .text("TIME"))
    static let count = Option("count", .text("N"))
    static let window = Option("window", .text("BEHIND,AHEAD"))

    static let uri = Option("uri")
    static let qrShown = Option("qr")
    static let qrPNG = Option("qr-png", .file)
    static let reveal = Option("reveal")
    static let png = Option("png", .file)
    static let svg = Option("svg", .file)
    static let force = Option("force")
    static let yes = Option("yes", short: "y")

    static let noRecoveryKey = Option("no-recovery-key")
    static let slot = Option("slot", .text("NUMBER"))
    static let keepKey = Option("keep-key")
    static let scryptLogN = Option("scrypt-log-n", .text("10…24"))
    static let noPIN = Option("no-pin")
    static let pcr7 = Option("pcr7")
    static let device = Option("device", .text("PATH"))
    static let dryRun = Option("dry-run")
    static let onDuplicate = Option(
        "on-duplicate", .choice(["skip", "replace", "keep"]), placeholder: "ACTION")
    static let exportPasswordFile = Option("export-password-file", .file)
    static let keyFile = Option("key-file", .file)
    static let raiseLimits = Option("raise-limits")
    static let includeDeleted = Option("include-deleted")
    static let screen = Option("screen")
    static let camera = Option("camera")
    static let verbose = Option("verbose")
    static let acceptWipes = Option("accept-wipes")
    static let into = Option("into", .file)
    static let oldEdits = Option("old-edits", .choice(["keep", "take"]), placeholder: "ACTION")
    static let copyPassphraseFile = Option("copy-passphrase-file", .file)
    static let format = Option("format", .choice(ExportRequest.Format.words), placeholder: "FORMAT")
    static let output = Option("output", short: "o", .file)
    static let only = Option("only", .listed("TAG|NAME", by: tags.name)).repeatable
    static let plain = Option("plain")
    static let purge = Option("purge")

    static let idle = Option("idle", .text("TIME"))
    static let atMost = Option("at-most", .text("TIME"))
    static let unlockedMemory = Option("unlocked-memory")
    static let allVaults = Option("all")

    static let server = Option("server", .text("URL"))
    static let ticketFile = Option("ticket-file", .file)
    static let caFile = Option("ca-file", .file)
    static let pin = Option("pin")
    static let attest = Option("attest")
    static let custody = Option("custody", .choice(["tpm", "vault"]), placeholder: "PLACE")
    static let challengeFile = Option("challenge-file", .file)
    static let deviceName = Option("device-name", .text("TEXT"))
}
