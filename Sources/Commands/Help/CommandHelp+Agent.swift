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
