import Arguments

// The vault as a whole.
extension Page {
    static let initialize = Page(
        summary: "make the vault",
        operands: .none, options: [.noRecoveryKey, .scryptLogN],
        examples: [
            "watchword init",
            "watchword init --vault work.vault --no-recovery-key",
            "watchword init --passphrase-file pass.txt >recovery-key.txt",
        ],
        details: [
            "Asks for a passphrase twice and makes an empty vault, which nothing but the "
                + "passphrase or the recovery key opens. The recovery key is printed once, "
                + "on standard output, before the vault is saved; on a terminal it is asked "
                + "back, to see that it was written down.",
            "A vault that is there is never written over.",
        ])
    static let passphrase = Page(
        summary: "change the passphrase",
        operands: .none, options: [.newPassphraseFile, .slot, .keepKey, .scryptLogN],
        examples: [
            "watchword passphrase",
            "watchword passphrase --recovery-key",
            "watchword passphrase --passphrase-file old.txt --new-passphrase-file new.txt",
        ],
        details: [
            "Asks for the present passphrase and twice for the new one. The vault gets a new "
                + "key, as by “rekey”: a copy of the vault that was made before still opens with "
                + "the old passphrase, but opens nothing that is saved afterwards. With "
                + "--keep-key it would.",
            "A forgotten passphrase is replaced with --recovery-key, which asks for the "
                + "recovery key, or --recovery-key-file; of several, the one that --slot names.",
        ])
    static let rekey = Page(
        summary: "give the vault a new key",
        operands: .none, options: [],
        examples: ["watchword rekey", "watchword rekey --recovery-key"],
        details: [
            "Seals every entry under a new key. Every passphrase and recovery key opens the "
                + "vault as before; none of them is needed but the one that opens it now. The "
                + "previous generation beside the vault is erased.",
            "A copy that was made before keeps its key, and opens with what opened it then. "
                + "If somebody may have such a copy and its passphrase, change the secrets "
                + "themselves at their services, too.",
        ])
    static let slotList = Page(
        summary: "list what opens the vault",
        operands: .none, options: [.readOnly],
        examples: ["watchword slot list", "watchword --json slot list"],
        details: ["Prints a line for each slot: its number, its kind and its cost."])
    static let slotAdd = Page(
        summary: "add a passphrase or a recovery key",
        operands: .word(["passphrase", "recovery-key"]),
        options: [.newPassphraseFile, .scryptLogN],
        examples: [
            "watchword slot add passphrase",
            "watchword slot add recovery-key >recovery-key.txt",
        ],
        details: [
            "A vault may have several passphrases; each of them opens it alone. A new "
                + "recovery key is printed once, on standard output."
        ])
    static let slotRemove = Page(
        summary: "take away a passphrase or a recovery key",
        operands: .one("NUMBER"), options: [.keepKey, .yes],
        examples: ["watchword slot list", "watchword slot remove 2"],
        details: [
            "NUMBER is the one that “slot list” prints. The last slot stays. The vault gets a "
                + "new key, as by “rekey”: a copy of the vault that was made before still opens "
                + "with what the slot took, but opens nothing that is saved afterwards. With "
                + "--keep-key it would."
        ])
    static let check = Page(
        summary: "open everything and verify the file",
        operands: .none, options: [.readOnly],
        examples: ["watchword check", "watchword --json check"],
        details: [
            "Every record is opened and checked, and what the vault has to tell is told: "
                + "records that were wiped, an older file in its place.",
            "A vault on a read-only disk, or without permission to write, opens with --read-only. "
                + "Nothing is saved then, and failures are not counted.",
        ])
}
