import Foundation
import SecretVault
import TestSupport
import Testing

/// Tests with the real programs: the command line, the agent and its key holder.
@Suite(.serialized)
struct AgentTests {
    private static let code = "code Site --at 59"

    @Test("--read-only opens the vault without the agent")
    func readOnly() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run(Self.code).text == "287082\n")
        // Without a terminal, no prompt for the passphrase is possible.
        #expect(try agent.run(Self.code + " --read-only", status: 4).text == "")
    }

    @Test("once the vault is unlocked, commands need no passphrase until it is locked")
    func unlockAndLock() throws {
        let agent = try AgentFixture()
        try agent.run(Self.code, status: 4)
        let unlocked = try agent.run(AgentFixture.unlock)
        #expect(
            AgentFixture.errors(unlocked)
                == "Unlocked the vault. It locks after 15 minutes without use, "
                + "and after at most 8 hours.\n")
        #expect(try agent.run(Self.code).text == "287082\n")
        try agent.run("lock")
        try agent.run(Self.code, status: 4)
    }

    @Test("unlock prompts up to three times; uses are recorded so that lists can be sorted by use")
    func promptAndUses() throws {
        let agent = try AgentFixture([
            "A:a --secret-file key.txt", "B:b --secret-file key.txt",
        ])
        let terminal = try agent.terminal("unlock")
        for answer in ["guess", "guess", AgentFixture.passphrase] {
            try terminal.waitFor("Passphrase: ")
            terminal.clear()
            try terminal.type(answer + "\n")
        }
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("Unlocked the vault"))
        try agent.run("code B --at 59")
        // The use is recorded after the code has been delivered.
        try agent.shell("until watchword list --sort used | head -n 1 | grep -q '^B:b'; do :; done")
        #expect(try agent.run("code B A --at 59").text == "287082  B:b\n287082  A:a\n")
    }

    @Test("a counter that the agent has used is never used again, with or without the agent")
    func counter() throws {
        let agent = try AgentFixture(["Count:me --type hotp --secret-file key.txt"])
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run("code Count").text == "755224\n")
        #expect(try agent.run("code Count --passphrase-file pass.txt").text == "287082\n")
        #expect(try agent.run("code Count").text == "359152\n")
        #expect(try agent.run("show Count --json").text.contains(#""counter":3"#))
    }

    @Test("clients that use one counter at the same time get different codes")
    func counterAtOnce() throws {
        let agent = try AgentFixture(["Count:me --type hotp --secret-file key.txt"])
        try agent.run(AgentFixture.unlock)
        let held = "watchword code Count"
        let codes = try agent.together(
            Array(repeating: [held, held + " --passphrase-file pass.txt"], count: 3).flatMap { $0 }
        ).split(separator: "\n")
        #expect(Set(codes).count == 6)
        #expect(try agent.run("show Count --json").text.contains(#""counter":6"#))
    }

    @Test("--no-agent, WATCHWORD_AGENT=off and the options for opening the vault bypass the agent")
    func bypass() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        try agent.run("\(Self.code) --no-agent", status: 4)
        try agent.run("\(Self.code) --recovery-key", status: 4)
        try agent.shell("WATCHWORD_AGENT=off watchword \(Self.code)", status: 4)
        #expect(try agent.run("\(Self.code) --passphrase-file pass.txt").text == "287082\n")
        // A command that shows a secret prompts again.
        try agent.run("show Site --uri", status: 4)
        try agent.run("export", status: 4)
    }

    @Test("the agent's state is shown as text and as JSON, and the agent can be stopped")
    func statusAndStop() throws {
        let agent = try AgentFixture()
        #expect(try agent.run("agent status").text == "The agent is not running.\n")
        #expect(
            try agent.run("agent status --json").text
                == #"{"folders":[],"limits_files":null,"locks_keys":null,"mode":null,"pid":null,"#
                + #""running":false,"system":null,"vaults":[]}"# + "\n")
        try agent.run("unlock --idle 5m --at-most 1h --passphrase-file pass.txt")
        let status = try agent.run("agent status --json").text
        #expect(
            status.contains(#""idle_remaining":29"#) || status.contains(#""idle_remaining":300"#))
        #expect(status.contains(#""mode":"user""#))
        let words = try agent.run("agent status").text
        #expect(
            words.contains(
                #/vault: unlocked; locks in (5|4) minutes?.* without use, or in .* at the latest/#))
        #expect(words.hasSuffix(" (checks by PAM are advisory)\n"))
        try agent.run("lock --all")
        #expect(
            try agent.run("agent status").text == "The agent is running; no vault is unlocked.\n")
        try agent.run("agent stop")
        #expect(try agent.run("agent status").text == "The agent is not running.\n")
        try agent.shell("while [ -e run/watchword/agent.sock ]; do :; done")
        #expect(try agent.shell("ls run/watchword").text == "agent.lock\n")
        for time in ["0m", "5", "m", "+5m", "5d", "169h", "-1m"] {
            try agent.run("unlock --idle \(time) --passphrase-file pass.txt", status: 2)
        }
    }

    @Test("failures with and without the agent share one count")
    func failures() throws {
        let agent = try AgentFixture()
        try agent.folder.write(Array("guess\n".utf8), to: "guess.txt")
        for attempt in 1...LockOutPolicy.firstFailureWithWait {
            let verb = attempt % 2 == 1 ? "unlock" : "list"
            let refused = try agent.run("\(verb) --passphrase-file guess.txt", status: 4)
            #expect(AgentFixture.errors(refused).contains("wrong passphrase"))
        }
        let refused = try agent.run(AgentFixture.unlock, status: 4)
        #expect(AgentFixture.errors(refused).contains("too many failures"))
        #expect(try agent.run("agent status --json").text.contains(#""vaults":[]"#))
    }

    @Test("an entry that requires a check at each use requires it after unlocking, too")
    func perUse() throws {
        let agent = try AgentFixture([
            "A:a --presence per-use:passphrase --on-failure wipe:2 --secret-file key.txt"
        ])
        try agent.run(AgentFixture.unlock)
        try agent.run("code A --at 59", status: 4)
        let question = "To show the code of A:a, enter the passphrase again: "
        for _ in 0..<2 {
            let screen = try agent.answering(
                question, AgentFixture.passphrase, "code A --at 59")
            #expect(screen.contains("287082"))
        }
        // The prompt is repeated, and failures are counted as without the agent.
        let terminal = try agent.terminal("code A --at 59")
        try terminal.waitFor(question)
        terminal.clear()
        try terminal.type("guess\n")
        try terminal.waitFor("will be wiped after 1 more failure")
        try terminal.waitFor(question)
        try terminal.type("guess\n")
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("was wiped after too many failures"))
        #expect(try agent.run("list").text == "A:a  wiped\n")
    }

    @Test("a PAM check runs in a process beside the agent, and this process ends with the check")
    func modules() throws {
        let agent = try AgentFixture([
            "A:a --presence per-use:pam --secret-file key.txt",
            "B:b --presence per-use:passphrase --secret-file key.txt",
        ])
        try agent.installModules()
        func configure(_ module: String) throws { try agent.configure("required " + module) }
        try agent.shell("bin/watchword \(AgentFixture.unlock)")
        try configure("pam_permit.so")
        #expect(try agent.shell("bin/watchword code A --at 59").text == "287082\n")
        // The entry decides which check it accepts.
        try agent.shell("bin/watchword code B --at 59 --presence-check pam", status: 4)
        try configure("pam_deny.so")
        let refused = try agent.shell("bin/watchword code A --at 59", status: 4)
        let failures = LockOutPolicy.firstFailureWithWait
        #expect(
            AgentFixture.errors(refused).contains(
                "“A:a” was not opened; you will be locked out of it after \(failures - 1) more failures"
            ))
        // A question of a PAM module reaches the client's terminal.
        try configure("pam_unix.so")
        let terminal = try agent.terminal("code A --at 59", program: "bin/watchword")
        try terminal.waitFor("To show the code of A:a")
        try terminal.waitFor("assword: ")
        #expect(try terminal.settings().echoes == false)
        // Ctrl-C: the check is cancelled, which does not count as an attempt, and the program ends.
        try terminal.type("\u{3}")
        #expect(try terminal.end() != 0)
        let asked = try agent.terminal("code A --at 59", program: "bin/watchword")
        try asked.waitFor("assword: ")
        try asked.type("wrong\n")
        #expect(try asked.end() == 4)
        #expect(
            asked.screen.contains(
                "you will be locked out of it after \(failures - 2) more failures"))
        // Without a terminal, questions cannot be answered.
        let silent = try agent.shell("bin/watchword code A --at 59", status: 4)
        #expect(AgentFixture.errors(silent).contains("PAM needs a terminal"))
        try agent.shell("while pgrep -f \"$PWD/bin/watchword-presence\" >/dev/null; do :; done")
        try configure("pam_permit.so")
        #expect(try agent.shell("bin/watchword code A --at 59").text == "287082\n")
    }

    @Test("changing the key or the access control of an entry requires the check of the entry")
    func confirmedEdits() throws {
        let agent = try AgentFixture([
            "A:a --presence per-use:passphrase --secret-file key.txt"
        ])
        try agent.run(AgentFixture.unlock)
        let question = "To change A:a, enter the passphrase again: "
        try agent.run("edit A --presence per-unlock", status: 4)
        let terminal = try agent.terminal("edit A --presence per-unlock")
        try terminal.waitFor(question)
        terminal.clear()
        try terminal.type("guess\n")
        try terminal.waitFor(question)
        try terminal.type("\u{4}")
        #expect(try terminal.end() == 4)
        #expect(try agent.run("list").text == "A:a  totp, per-use:passphrase\n")
        // A later check shows the name.
        try agent.run("rename A B:b", status: 4)
        try agent.run("rename A B:b --passphrase-file pass.txt")
        _ = try agent.answering(
            "To change B:b, enter the passphrase again: ", AgentFixture.passphrase,
            "edit B --presence per-unlock")
        #expect(try agent.run("list").text == "B:b  totp\n")
        #expect(try agent.run("code B --at 59").text == "287082\n")
    }

    @Test("the agent adopts the changes that another process saves")
    func changes() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        try agent.run("rename Site New:me --passphrase-file pass.txt")
        #expect(try agent.run("list").text == "New:me  totp\n")
        #expect(try agent.run("code New --at 59").text == "287082\n")
    }

    @Test("the agent locks a vault that an older file, another vault or a new key replaces")
    func replaced() throws {
        let file = AgentFixture.vault
        let agent = try AgentFixture()
        try agent.shell("cp -p \(file) older")
        try agent.run("rename Site New:me --passphrase-file pass.txt")
        try agent.run(AgentFixture.unlock)
        try agent.shell("cp -p \(file) newer; cp -p older \(file)")
        let older = try agent.run("list", status: 4)
        #expect(AgentFixture.errors(older).contains("without its last changes, replaced it"))
        #expect(try agent.run("agent status --json").text.contains(#""vaults":[]"#))
        try agent.shell("cp -p newer \(file)")
        try agent.run(AgentFixture.unlock)
        try agent.run("rekey --passphrase-file pass.txt")
        let rekeyed = try agent.run("list", status: 4)
        #expect(AgentFixture.errors(rekeyed).contains("because its key was changed"))
        try agent.run(AgentFixture.unlock)
        try agent.shell(
            "watchword init -q --vault other --scrypt-log-n 10 --no-recovery-key "
                + "--passphrase-file pass.txt; cp -p other \(file)")
        let other = try agent.run("list", status: 4)
        #expect(AgentFixture.errors(other).contains("because a different vault replaced it"))
    }

    @Test("a vault in a folder that the agent was not started for is refused")
    func outOfReach() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        try agent.shell(
            "mkdir -m 700 far; watchword init -q --vault far/v --scrypt-log-n 10 "
                + "--no-recovery-key --passphrase-file pass.txt")
        let refused = try agent.run("unlock --vault far/v --passphrase-file pass.txt", status: 3)
        #expect(AgentFixture.errors(refused).contains("the running agent cannot reach this folder"))
        try agent.run("agent stop")
        try agent.run("unlock --vault far/v --passphrase-file pass.txt")
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run("list --vault far/v").text == "")
        #expect(try agent.run("list").text == "Site:me  totp\n")
    }

    @Test("killing the key holder or the supervisor loses only the unlocked state")
    func killed() throws {
        let agent = try AgentFixture()
        for isSupervisor in [false, true] {
            try agent.run(AgentFixture.unlock)
            let holder = try agent.keyHolder()
            try agent.shell(
                isSupervisor
                    ? "kill -9 $(ps -o ppid= -p \(holder)); "
                        + "until watchword agent status | grep -q 'not running'; do :; done"
                    : "kill -9 \(holder); while [ -e run/watchword/agent.sock ]; do :; done")
            try agent.run(Self.code, status: 4)
            #expect(try agent.run("agent status").text == "The agent is not running.\n")
        }
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run(Self.code).text == "287082\n")
    }

    @Test(
        "the agent ends on SIGTERM and SIGHUP, and removes its socket", arguments: ["TERM", "HUP"])
    func signals(_ signal: String) throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let holder = try agent.keyHolder()
        try agent.shell(
            "kill -\(signal) \(holder); while [ -e run/watchword/agent.sock ]; do :; done")
        #expect(try agent.run("agent status").text == "The agent is not running.\n")
    }

    @Test("of several agents that start at the same time, only one keeps running")
    func startedTogether() throws {
        let agent = try AgentFixture()
        let said = try agent.together(
            Array(repeating: "watchword \(AgentFixture.unlock) 2>&1", count: 6))
        #expect(said.components(separatedBy: "Unlocked the vault").count == 7, "\(said)")
        let count = try agent.shell(
            "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline 2>/dev/null; echo; done "
                + "| grep -c \"^[^ ]*watchword-agent --device-keys [^ ]* $PWD\" || true")
        #expect(count.text == "1\n")
    }
}
