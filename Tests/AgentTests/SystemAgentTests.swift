import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordSystem

/// The system agent and its users.
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
struct SystemAgentTests {
    @Test("each command prompts for the passphrase of a vault that the system agent keeps")
    func oneUse() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Site:me", "Bank:me --presence per-use:passphrase"])
        let code = try agent.terminal("code Site --at 59")
        try code.waitFor("Passphrase:")
        try code.type(AgentFixture.passphrase + "\n")
        #expect(try code.end() == 0)
        #expect(code.screen.contains("287082"))
        // The agent no longer holds the key.
        try agent.run("code Site --at 59", status: 4)
        // The passphrase that opened the vault also counts as the check for the first use, as
        // without an agent.
        let bank = try agent.run("code Bank --at 59 --passphrase-file pass.txt")
        #expect(bank.text == "287082\n")
        #expect(
            try agent.run("agent status").text
                == "Your own agent is not running.\n"
                + "The system agent is running; no vault is unlocked.\n")
        try agent.run("rename Site Place --passphrase-file pass.txt")
        #expect(try agent.run("list --names --passphrase-file pass.txt").text.contains("Place"))
    }

    @Test("a vault that the system agent has unlocked is used without a prompt until it is locked")
    func unlocked() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Site:me", "Bank:me --presence per-use:pam"])
        try agent.run("list --agent-only", status: 1)
        try agent.run("unlock --passphrase-file pass.txt")
        #expect(try agent.run("code Site --at 59").text == "287082\n")
        #expect(try agent.run("list --agent-only --names").text == "Bank:me\nSite:me\n")
        let facts = try agent.run("show Bank --json").text
        #expect(facts.contains("\"grade\":\"enforced\""))
        #expect(try agent.run("show Bank").text.contains("only the agent has the key"))
        let status = try agent.run("agent status --json").text
        #expect(status.contains("\"mode\":\"system\"") && status.contains("\"enforced\""))
        let check = try agent.run("check")
        #expect(AgentFixture.errors(check).contains("checks by PAM are enforced"))
        try agent.run("lock")
        try agent.run("code Site --at 59", status: 4)
    }

    @Test("a PAM check reports that the user has no user name")
    func nameless() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Bank:me --presence per-use:pam"], of: .nameless)
        try agent.configure("required pam_permit.so")
        try agent.run("unlock --passphrase-file pass.txt", as: .nameless)
        let terminal = try agent.terminal("code Bank --at 59", as: .nameless)
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("has no user name"))
    }

    @Test("the system agent counts wrong passphrases, and locks the vault out")
    func failures() throws {
        let agent = try SystemAgentFixture()
        try agent.keep()
        try agent.shell("echo wrong >wrong.txt")
        for _ in 1...LockOutPolicy.firstFailureWithWait {
            try agent.run("list --passphrase-file wrong.txt", status: 4)
        }
        let refused = try agent.run("list --passphrase-file pass.txt", status: 4)
        #expect(AgentFixture.errors(refused).contains("too many failures"))
    }

    @Test("each user can use, see and lock only that user's own vault")
    func users() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Mine:a"], of: .games)
        try agent.keep(["Other:b"], of: .man)
        try agent.run("unlock --passphrase-file pass.txt", as: .games)
        let locked = try agent.run("list", as: .man, status: 4)
        #expect(AgentFixture.errors(locked).contains("no terminal"))
        try agent.run("unlock --passphrase-file pass.txt", as: .man)
        #expect(try agent.run("list --names", as: .games).text == "Mine:a\n")
        #expect(try agent.run("list --names", as: .man).text == "Other:b\n")
        let status = try agent.run("agent status --json", as: .man).text
        #expect(status.contains("/state/6/vault") && !status.contains("/state/5/"))
        try agent.run("lock --all", as: .man)
        #expect(try agent.run("list --names", as: .games).text == "Mine:a\n")
        // A user without a vault gets a message about that.
        let none = try agent.run("list", as: .proxy, status: 3)
        #expect(AgentFixture.errors(none).contains("no vault found"))
    }

    @Test("a command that needs the vault's file reports that the system agent keeps the vault")
    func files() throws {
        let agent = try SystemAgentFixture()
        try agent.keep()
        for verb in ["slot remove 1", "passphrase", "rekey", "init"] {
            let refused = try agent.run("\(verb) --passphrase-file pass.txt", status: 3)
            #expect(AgentFixture.errors(refused).contains("the system agent keeps the vault"))
        }
        let uri = try agent.run("show Site --uri --passphrase-file pass.txt").text
        #expect(uri.contains("secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"))
        // A vault in the user's own folder, or a specified vault, is used instead.
        try agent.run(
            "init -q --vault own --scrypt-log-n 10 --passphrase-file pass.txt --no-recovery-key")
        #expect(try agent.run("list --vault own --passphrase-file pass.txt").text.isEmpty)
    }

    @Test("undo, merge and slot list work in a vault that the system agent keeps")
    func undoing() throws {
        let agent = try SystemAgentFixture()
        try agent.keep()
        try SystemAgentFixture.root(
            """
            cd '\(agent.folder.path)'; cp state/5/vault games/copy; chown games games/copy
            chmod 600 games/copy
            """)
        let passphrase = "--passphrase-file pass.txt"
        try agent.run("add -q New:n --vault copy --secret-file key.txt \(passphrase)")
        // Each command opens the vault for itself, and then the agent holds it.
        #expect(try agent.run("slot list \(passphrase)").text.contains("passphrase  scrypt 2^10"))
        #expect(try agent.run("merge copy \(passphrase)").text == "added: New:n\n")
        try agent.run("unlock \(passphrase)")
        #expect(try agent.run("undo --yes").text == "removed: New:n\n")
        #expect(try agent.run("list --names").text == "Site:me\n")
        #expect(try agent.run("merge copy").text == "added: New:n\n")
        let refused = try agent.run("merge copy --into copy \(passphrase)", status: 3)
        #expect(AgentFixture.errors(refused).contains("the system agent keeps the vault"))
    }

    @Test("PAM checks the client's user, in a process of the system agent's user")
    func modules() throws {
        let agent = try SystemAgentFixture()
        try agent.folder.write(
            Array("#!/bin/sh\necho \"checks $PAM_USER as $(id -un) at $PAM_RHOST.\"\n".utf8),
            to: "who")
        try SystemAgentFixture.root("chmod 755 '\(agent.folder.file("who"))'")
        try agent.configure("required pam_exec.so quiet stdout \(agent.folder.file("who"))")
        try agent.keep(["Bank:me --presence per-use:pam"])
        try agent.run("unlock --passphrase-file pass.txt")
        let terminal = try agent.terminal("code Bank --at 59")
        #expect(try terminal.end() == 0)
        // The user has no session on this machine.
        #expect(terminal.screen.contains("checks games as irc at remote."))
        #expect(terminal.screen.contains("287082"))
        // The verdict comes from the PAM modules, not from the client.
        try agent.configure("required pam_deny.so")
        let denied = try agent.terminal("code Bank --at 59")
        #expect(try denied.end() == 4)
        #expect(!denied.screen.contains("287082"))
    }

    @Test("if the service does not respond or is stopped, the message says how to find the reason")
    func noService() throws {
        let agent = try SystemAgentFixture()
        try agent.keep()
        kill(agent.supervisor, SIGKILL)
        let socket = "\(agent.folder.path)/run/agent.sock"
        try SystemAgentFixture.root(
            """
            rm \(socket)
            while grep -q '\(socket)$' /proc/net/unix; do :; done
            setsid systemd-socket-activate -l \(socket) /bin/false </dev/null >/dev/null 2>&1 &
            until grep -q ' 00010000 .* \(socket)$' /proc/net/unix; do :; done
            chmod 666 \(socket)
            """)
        let unanswered = try agent.run("code Site --passphrase-file pass.txt", status: 6)
        #expect(
            AgentFixture.errors(unanswered)
                == "watchword: the system agent did not answer; for the reason, run systemctl status "
                + "watchword-agent or, as an administrator, journalctl -u watchword-agent\n")
        let stopped = try SystemAgentFixture.root(
            """
            unshare -m sh -c 'mount -t tmpfs none /run; mount -t tmpfs none /var/lib
            mkdir /var/lib/watchword-agent; cd "$0/games"
            for verb in code\\ Site unlock list vault\\ move\\ --to-user; do
            env -i HOME="$PWD" "$0/bin/watchword" $verb --passphrase-file pass.txt 2>&1; done
            env -i HOME="$PWD" "$0/bin/watchword" list --vault other --passphrase-file pass.txt 2>&1
            ' '\(agent.folder.path)' || true
            """)
        let lines = stopped.text.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines.prefix(4).allSatisfy { $0.contains("not running; for the reason") })
        #expect(lines.last?.hasSuffix("no vault found; create one with watchword init") == true)
    }

    @Test(
        "the agent does not start without a socket passed to it, or if others can open its folder")
    func start() throws {
        let agent = try SystemAgentFixture()
        let program = agent.folder.file("bin/watchword-agent")
        let state = agent.folder.file("state")
        for (setting, reason) in [
            ("env -i", "listen"), ("env -i LISTEN_FDS=1 LISTEN_PID=1", "listen"),
            ("env -i LISTEN_FDS=2", "listen"),
        ] {
            let outcome = try SystemAgentFixture.root(
                "setpriv --reuid irc --clear-groups -- \(setting) '\(program)' --system '\(state)' "
                    + "3</dev/null 2>&1 || true")
            #expect(outcome.text.contains(reason))
        }
        try SystemAgentFixture.root("chmod 750 '\(state)'")
        let open = try SystemAgentFixture.root(
            "setpriv --reuid irc --clear-groups -- '\(program)' --system '\(state)' 2>&1 || true")
        #expect(open.text.contains("notPrivate"))
    }
}
