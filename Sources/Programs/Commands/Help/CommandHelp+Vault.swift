import CommandLineInterface

// Managing the vault.
extension CommandHelp {
    static let initialize = CommandHelp(
        summary: "create the vault",
        operands: .none, options: [.noRecoveryKey, .scryptLogN],
        examples: [
            "watchword init",
            "watchword init --vault work.vault --no-recovery-key",
            "umask 077; watchword init --passphrase-file pass.txt >recovery-key.txt",
        ],
        details: [
            "Prompts for a passphrase twice and creates an empty vault, which only the passphrase "
                + "or the recovery key unlocks. The recovery key is printed once, on standard output, "
                + "before the vault is saved; on a terminal, you then type it to verify your copy.",
            "An existing vault is never overwritten.",
        ])
    static let passphrase = CommandHelp(
        summary: "change the passphrase",
        operands: .none, options: [.newPassphraseFile, .slot, .keepKey, .scryptLogN],
        examples: [
            "watchword passphrase",
            "watchword passphrase --recovery-key",
            "watchword passphrase --passphrase-file old.txt --new-passphrase-file new.txt",
        ],
        details: [
            "Prompts for the current passphrase, and twice for the new one. The vault also gets a new "
                + "key, as with “rekey”: the old passphrase still unlocks earlier copies, but "
                + "cannot decrypt anything saved later. With --keep-key, it can.",
            "Guessing the new passphrase costs at least as much as guessing the old one, unless "
                + "--scrypt-log-n sets the cost.",
            "If you forgot the passphrase, unlock with --recovery-key or --recovery-key-file. If the "
                + "vault has several passphrases, choose the one to replace with --slot.",
        ])
    static let rekey = CommandHelp(
        summary: "give the vault a new key",
        operands: .none, options: [],
        examples: ["watchword rekey", "watchword rekey --recovery-key"],
        details: [
            "Encrypts every entry with a new key. All passphrases and recovery keys stay valid, and "
                + "any one of them is enough for the command. The previous generation of the "
                + "vault is erased.",
            "Earlier copies keep the old key and unlock as before. If somebody may have such a "
                + "copy and its passphrase, also replace the secrets at their issuers.",
        ])
    static let slotList = CommandHelp(
        summary: "list what opens the vault",
        operands: .none, options: [.readOnly],
        examples: ["watchword slot list", "watchword --json slot list"],
        details: [
            "Prints each slot's number, type, properties and creation time. A slot of the type tpm2 or "
                + "fido2 belongs to one device."
        ])
    static let slotAdd = CommandHelp(
        summary: "add a passphrase, recovery key, TPM or authenticator",
        operands: .word(["passphrase", "recovery-key", "tpm2", "fido2"]),
        options: [.newPassphraseFile, .scryptLogN, .noPIN, .pcr7, .device],
        examples: [
            "watchword slot add passphrase",
            "umask 077; watchword slot add recovery-key >recovery-key.txt",
            "watchword slot add tpm2",
            "watchword slot add fido2 --no-pin",
        ],
        details: [
            "A vault can have several passphrases, each of which unlocks it. A new recovery key is "
                + "printed once, on standard output.",
            "tpm2 seals a random key in this computer's TPM 2 under a new PIN of 4 to 32 bytes, for which the "
                + "command prompts. The TPM counts wrong PINs and then refuses all of them for some time. "
                + "With --pcr7, the TPM unseals the key only while Secure Boot and its keys are as they "
                + "are now.",
            "fido2 uses the extension hmac-secret of a FIDO2 authenticator, with its PIN and a touch. "
                + "The command asks for two touches.",
            "With --no-pin, no PIN is needed: a TPM then opens the vault for anyone who can run programs "
                + "on this computer, and an authenticator for anyone who touches it.",
            "Later commands try the devices first, in the order of their slots, and then the "
                + "passphrase; see --unlock-with. A copy of the vault can still be unlocked by guessing "
                + "the passphrase, unless its slot is removed.",
        ])
    static let slotRemove = CommandHelp(
        summary: "remove a passphrase, recovery key, TPM or authenticator",
        operands: .one("SLOT"), options: [.keepKey, .yes],
        examples: [
            "watchword slot list", "watchword slot remove 2", "watchword slot remove passphrase",
        ],
        details: [
            "SLOT is a slot number or type from “slot list”; a type must be unique. The last passphrase can "
                + "be removed only if the vault has a recovery key, and the last recovery key only if it "
                + "has a passphrase: a device can be lost.",
            "The vault also gets a new key, as with “rekey”: the removed passphrase, key or device still "
                + "unlocks earlier copies, but cannot decrypt anything saved later. With "
                + "--keep-key, it can.",
            "Without a passphrase, nobody who has a copy of the vault can unlock it by guessing. Keep "
                + "the recovery key: without it, a lost or broken device means a lost vault.",
        ])
    static let check = CommandHelp(
        summary: "check the vault for damage",
        operands: .none, options: [.readOnly],
        examples: ["watchword check", "watchword --json check"],
        details: [
            "Decrypts and verifies every entry, reports problems such as wiped entries or an older "
                + "vault file, and lists what opens the vault.",
            "Use --read-only for a vault on a read-only disk or without write permission. Failures "
                + "are then not counted.",
        ])
}

// Returning to an earlier state, and merging separate copies.
extension CommandHelp {
    static let undo = CommandHelp(
        summary: "undo the last change to the entries",
        operands: .none, options: [.dryRun, .yes, .presenceCheck],
        examples: ["watchword undo --dry-run", "watchword undo", "watchword --json undo --yes"],
        details: [
            "Restores what the last add, edit, rename, remove, import or merge changed: removed entries "
                + "return, changed ones become what they were, and added ones are removed. The "
                + "command lists the changes and asks for confirmation first. It can undo one step, "
                + "until the next change; running it again brings the change back.",
            "Some things are never rolled back: a counter keeps its greater value, an enrolled secret its "
                + "newest state, and a wiped entry stays wiped. Enrolments, passphrases, recovery "
                + "keys and the vault's key are not undone. After --purge, rekey or a new "
                + "passphrase, nothing can be undone.",
            "An entry that requires confirmation at each use also requires it before its name, its key "
                + "or its access control is changed back, and before it is removed.",
        ])
    static let merge = CommandHelp(
        summary: "merge a copy of the vault that was edited separately",
        operands: .file,
        options: [
            .dryRun, .acceptWipes, .oldEdits, .into, .copyPassphraseFile, .presenceCheck,
        ],
        examples: [
            "watchword merge --dry-run vault.sync-conflict-20261122-101010-ABCDEFG",
            "watchword merge vault_REMOTE_4711",
            "watchword --json merge other/vault --copy-passphrase-file old.txt",
        ],
        details: [
            "FILE is another copy of the same vault, for example one that a file-sync client kept "
                + "because both were edited. Its entries are merged into the vault one by one, and the "
                + "vault is saved once. FILE is neither changed nor deleted.",
            "An edit replaces earlier edits that its copy contained. If an entry was edited in both copies, the newer "
                + "edit is kept; if it is not clear which is newer, both are kept, one as “NAME "
                + "(conflict)”. An entry that was removed in one copy is removed, unless the other "
                + "copy has an edit that the first one did not contain.",
            "A counter gets the greater value, an enrolled secret its newest state, and a wiped entry "
                + "stays wiped. If both copies edited an entry, the stricter access control is kept, and if "
                + "they have different keys, both are kept. "
                + "Passphrases and recovery keys of FILE are not added.",
            "Anybody who can write FILE can replace the secret of an entry with the mark that it was wiped. The "
                + "command therefore asks before it wipes such an entry here, too; without a terminal, "
                + "the entry is kept unless --accept-wipes is given. An earlier state of the vault adds "
                + "nothing.",
            "A vault records its last 512 saves. If FILE has an older version of an entry that differs "
                + "here, the entry may have been changed or removed since; the command asks which "
                + "version to keep, and a script needs --old-edits.",
            "With --into, the vault does not change. git uses this as a merge driver; init in a git work "
                + "tree prints how to set it up. git’s history keeps what was wiped or purged.",
            "If FILE has another key, the command asks for its passphrase. Entries that require "
                + "confirmation at each use are confirmed before their key or their access control is "
                + "replaced. Merging the same FILE again changes nothing. If an entry of FILE could not be "
                + "merged, the status is 1; keep FILE then.",
        ])
}
