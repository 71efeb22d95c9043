import CommandLineInterface

// Keeping the vault unlocked.
extension CommandHelp {
    static let unlock = CommandHelp(
        summary: "unlock the vault once, for the next commands",
        operands: .none, options: [.idle, .atMost, .unlockedMemory],
        examples: [
            "watchword unlock",
            "watchword unlock --idle 5m --at-most 1h",
            "watchword unlock --vault work.vault",
        ],
        details: [
            "Prompts for the passphrase and passes it to the agent, a background process that opens the "
                + "vault and keeps its key in memory that other programs cannot read. Other commands "
                + "then get codes and lists from the agent without a prompt. The commands that show "
                + "secrets (show --uri, --qr and --reveal, and export) always prompt again.",
            "If there is a display but no terminal, pinentry prompts for the passphrase in a window.",
            "The agent locks the vault when it has not given out a code for 15 minutes (--idle), 8 hours "
                + "after unlocking (--at-most), when the session is locked, and when the machine is "
                + "suspended. TIME is a number followed by s, m or h, such as 90s. Changes and sign-ins "
                + "also count as uses; “list” and “agent status” do not.",
            "An entry that requires confirmation at each use still requires it: unlocking does "
                + "not count as confirmation. Failures count in the same way as without the agent.",
            "The agent can read only the folder of the default vault and the folder of the vault for "
                + "which it was started. To unlock a vault in another folder, run “agent stop” first.",
            "The agent keeps the key in memory that is never written to swap. Where the limit "
                + "RLIMIT_MEMLOCK allows none, it refuses to hold the key unless it was started with "
                + "--unlocked-memory.",
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
                + "skip a check, and checks by PAM are enforced. An administrator installs the system "
                + "agent with Scripts/install --system-agent.",
            "The command prompts for the passphrase, copies the vault and its failure counters, and "
                + "opens the copy. It then erases the original and its previous generation, so “undo” "
                + "cannot undo changes from before the move. If the command is interrupted, run it again. "
                + "A vault that needs --max-unlock-cost to be unlocked cannot be moved.",
            "If an entry is per-use:pam, --to-user also requires a check by PAM, because the moved file "
                + "opens without it.",
            "Commands use the system agent's vault if there is no vault at the default path, and "
                + "neither --vault nor WATCHWORD_VAULT names one. Commands that need the vault's file "
                + "(slot, passphrase, rekey, merge, undo) do not work until you move the vault back.",
        ])
    static let lock = CommandHelp(
        summary: "lock the vault again",
        operands: .none, options: [.allVaults],
        examples: ["watchword lock", "watchword lock --all"],
        details: [
            "The agent erases the vault's key from its memory at once. With --all, it erases the keys "
                + "of all vaults, and the system agent erases your vault's key. Agents that you started "
                + "with another XDG_RUNTIME_DIR are not reached."
        ])
    static let agentStatus = CommandHelp(
        summary: "show which vaults are unlocked",
        operands: .none, options: [],
        examples: ["watchword agent status", "watchword --json agent status"],
        details: [
            "Shows each unlocked vault, the time left until it locks, and whether checks by PAM are "
                + "enforced (system agent) or advisory. With --json, times are in seconds. The command "
                + "does not reset a timer."
        ])
    static let agentStop = CommandHelp(
        summary: "stop the agent",
        operands: .none, options: [],
        examples: ["watchword agent stop"],
        details: [
            "The agent erases all keys from its memory and exits. “unlock” starts it again."
        ])
}
