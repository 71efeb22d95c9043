import Arguments

// Keeping the vault unlocked.
extension CommandHelp {
    static let unlock = CommandHelp(
        summary: "unlock the vault once, for the next commands",
        operands: .none, options: [.idle, .atMost],
        examples: [
            "watchword unlock",
            "watchword unlock --idle 5m --at-most 1h",
            "watchword unlock --vault work.vault",
        ],
        details: [
            "Asks for the passphrase, and passes it to the agent, a program in the background that "
                + "opens the vault and holds its key in memory that other programs cannot read. Other "
                + "commands then get codes and lists from the agent without asking. The commands that show "
                + "secrets (show --uri, --qr and --reveal, and export) always ask again.",
            "Without a terminal, but with a display, the program pinentry asks in a window.",
            "The agent locks the vault 15 minutes after the last use of a secret, 8 hours after it was "
                + "unlocked, when the session is locked, and when the machine is suspended. TIME is "
                + "a number followed by s, m or h. “list” and “agent status” do not count as uses.",
            "An entry that requires confirmation at each use still requires it: unlocking does "
                + "not count as confirmation. Failures are counted as without the agent.",
            "An agent reaches only the default vault's folder and the folder of the vault for which it "
                + "was started.",
            "With --no-agent, or if WATCHWORD_AGENT is “off”, a command opens the vault itself. "
                + "--passphrase-file, --read-only and the options for the recovery key have the same effect.",
        ])
    static let vaultMove = CommandHelp(
        summary: "move the vault to or from the system agent",
        operands: .none, options: [.toSystem, .toUser],
        examples: ["watchword vault move --to-system", "watchword vault move --to-user"],
        details: [
            "The system agent keeps vaults where only it can read them: /var/lib/watchword-agent. "
                + "No other program of yours can then copy the vault, read the agent's memory or "
                + "skip a check, and checks by PAM are enforced. An administrator installs it with "
                + "Scripts/install --system-agent.",
            "Asks for the passphrase, copies the vault with its failure counters, opens the copy, and "
                + "then erases the former file and its previous generation, so that “undo” cannot go "
                + "back beyond the move. If the command is interrupted, run it again.",
            "Commands use the system agent's vault if there is no vault at the default path, and "
                + "neither --vault nor WATCHWORD_VAULT names one. Commands that need the vault's file "
                + "(slot, passphrase, rekey, merge, undo) need it back in your own folder.",
        ])
    static let lock = CommandHelp(
        summary: "lock the vault again",
        operands: .none, options: [.allVaults],
        examples: ["watchword lock", "watchword lock --all"],
        details: ["The agent forgets the vault's key at once."])
    static let agentStatus = CommandHelp(
        summary: "show which vaults are unlocked",
        operands: .none, options: [],
        examples: ["watchword agent status", "watchword --json agent status"],
        details: [
            "Shows each unlocked vault and the time until it is locked. No timer is reset."
        ])
    static let agentStop = CommandHelp(
        summary: "end the agent",
        operands: .none, options: [],
        examples: ["watchword agent stop"],
        details: ["The agent forgets all keys and ends. “unlock” starts it again."])
}
