import CommandLineInterface

// Signing in with a key that this device makes.
extension CommandHelp {
    static let keyEnrol = CommandHelp(
        summary: "make a device key and register it",
        operands: .name,
        options: [
            .server, .ticketFile, .caFile, .custody, .pin, .attest,
            .deviceName, .presence, .onFailure,
            .presenceCheck,
        ],
        examples: [
            "watchword key enrol Mill:ivan --server https://login.example --ticket-file t",
            "watchword key enrol nas --server https://nas --ca-file c.pem --ticket-file t",
        ],
        details: [
            "The application issues the ticket, which can be used once, within ten minutes. The "
                + "device makes a key pair and registers the public key; the private key is stored "
                + "under NAME and never sent. A key under this name can be used until the server has "
                + "registered the new one, and is then purged.",
            "Without --custody, the key is made in the TPM if it can be opened, and otherwise in "
                + "the vault; the command says which. A key in the TPM cannot leave it, and the TPM "
                + "signs only with a value that is stored in the vault. Repeat --tpm with each "
                + "command if the TPM is not the standard one.",
            "With --pin, the key is made in the TPM and the TPM also requires a PIN of 4 to 32 bytes "
                + "before each signature. It counts wrong PINs, together with those of other keys, "
                + "and accepts none for some time after too many.",
            "With --attest, the TPM sends its maker's certificate, and the server checks that the key "
                + "cannot leave this TPM. The server must trust the maker (--tpm-roots), and can "
                + "recognise the computer from then on.",
            "Each use of the key requires confirmation, and three failures wipe it, except as "
                + "changed by --presence and --on-failure. A new key keeps the access control of "
                + "an earlier key under this name.",
            "If the response is lost, run the same command again, with the same ticket or another one. "
                + "A key that the server has registered is kept. Another ticket is then not used, and "
                + "the result in JSON is resumed instead of enrolled. The "
                + "certificates of --ca-file are stored in the vault, and only they are used to "
                + "verify this server. Plain HTTP is allowed only for a server on this machine.",
            "If an agent holds the vault, it makes the key and signs, and a key that requires "
                + "confirmation at each use also requires one for its registration. The system agent "
                + "uses only this computer's TPM.",
        ])
    static let keyPresent = CommandHelp(
        summary: "sign in: print a login ticket",
        operands: .name, options: [.presenceCheck],
        examples: ["watchword key present Mill:ivan", "watchword --json key present mill"],
        details: [
            "Gets a challenge from the server, signs it together with the server's address, and "
                + "prints a login ticket, which the application must redeem within a minute. The "
                + "application learns how your presence was checked: not at all, advisory (PAM), "
                + "cryptographic (the passphrase) or enforced (PAM, asked by the system agent).",
            "If the key was revoked, it is also wiped on this device. The exit status is then 5.",
        ])
    static let keyConfirm = CommandHelp(
        summary: "sign a text: print a login ticket",
        operands: .name, options: [.challengeFile, .presenceCheck, .yes],
        examples: ["watchword key confirm Mill:ivan --challenge-file payment.txt"],
        details: [
            "The application writes the file: the challenge on the first line, expires_ms on the "
                + "second, and then the text. The command shows the text, asks whether to sign it, "
                + "and prints a ticket with which the application learns which text was signed. A text "
                + "has at most 20 lines. If the terminal cannot show all of it together with the "
                + "question, nothing is signed: enlarge the window. If no agent holds the "
                + "vault, the command shows the text again once it has opened the vault."
        ])
    static let keyStatus = CommandHelp(
        summary: "show the local state of a device key",
        operands: .name, options: [.readOnly, .presenceCheck],
        examples: ["watchword key status Mill:ivan", "watchword --json key status mill"],
        details: [
            "Prints the server, the credential's name, where the private key is, and its state: "
                + "ready, unregistered (the server has not answered) or wiped, with the reason. The "
                + "server is not contacted."
        ])
    static let keyWipe = CommandHelp(
        summary: "wipe a device key",
        operands: .name, options: [.yes],
        examples: ["watchword key wipe Mill:ivan", "watchword key wipe mill --yes"],
        details: [
            "Removes the key from the vault and from its previous generation. The server is not "
                + "contacted: also revoke the credential there."
        ])
}
