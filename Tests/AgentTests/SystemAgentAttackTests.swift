import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// Attacks on the system agent by another program of a user, and by another user (see Security.md).
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
struct SystemAgentAttackTests {
    @Test("file: no user can read, copy, replace or remove the vault or a device key")
    func file() throws {
        let agent = try SystemAgentFixture()
        try agent.keep()
        try agent.run("unlock --passphrase-file pass.txt")
        try agent.run("add -q Bound:me --this-device=agent --secret-file key.txt")
        let found = try SystemAgentFixture.root(
            "cd '\(agent.folder.path)/games'; find ../state/5/device-keys -type f")
        let key = try #require(found.text.split(separator: "\n").first)
        let attempts = [
            "ls ../state/5/device-keys", "cat \(key)", "cp \(key) x", "ln \(key) x",
            "rm -f \(key)", "mv key.txt \(key)", "ls ../state", "ls ../state/5",
            "cat ../state/5/vault", "cp ../state/5/vault x",
            "ln ../state/5/vault x", "ln -s ../state/5/vault x && cat x", "touch ../state/5/moving",
            "rm -f ../state/5/vault", "mv key.txt ../state/5/vault", "echo >../state/5/vault",
        ]
        for user in [SystemAgentFixture.User.games, .man] {
            for attempt in attempts {
                let outcome = try agent.shell(attempt, as: user, status: nil)
                #expect(outcome.status != 0, "\(attempt)")
                #expect(AgentFixture.errors(outcome).contains("denied"), "\(attempt)")
            }
        }
        for name in ["Site", "Bound"] {
            #expect(try agent.run("code \(name) --at 59").text == "287082\n")
        }
    }

    @Test("process: no program of the user can read, trace, dump, signal or limit the agent")
    func process() throws {
        let agent = try SystemAgentFixture()
        try agent.keep()
        try agent.run("unlock --passphrase-file pass.txt")
        for process in [agent.supervisor, try agent.keyHolder()] {
            var attempts = ["mem", "maps", "environ", "fd/0", "auxv"].map {
                "head -c 1 /proc/\(process)/\($0)"
            }
            attempts += ["TERM", "KILL", "STOP", "HUP", "QUIT"].map { "kill -\($0) \(process)" }
            attempts += ["prlimit --pid \(process) --cpu=1", "renice 19 \(process)"]
            if ForeignProgram.canTrace { attempts.append("strace -p \(process)") }
            if ForeignProgram("gcore") != nil { attempts.append("gcore -o core \(process)") }
            for attempt in attempts {
                let outcome = try agent.shell(attempt, status: nil)
                #expect(outcome.status != 0, "\(attempt)")
            }
            #expect(try agent.shell("ls").text.contains("core") == false)
        }
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("modules: a module in a helper of the agent can neither read nor change the vaults")
    func modules() throws {
        let agent = try SystemAgentFixture(alias: "other")
        let state = agent.folder.file("state")
        let other = agent.folder.file("other")
        let script = """
            #!/bin/sh
            cd /
            id -un
            for file in \(state)/5/vault \(state)/../state/5/vault \(other)/5/vault; do cat $file && echo read; done
            ls \(state) && echo listed
            ls \(state)/5 && echo listed
            echo >\(state)/5/moving && echo written
            rm \(state)/5/vault && echo removed
            chmod 755 \(state) && echo changed
            chmod 644 \(state)/5/vault && echo changed
            cat /etc/passwd >/dev/null && echo works
            """
        try agent.folder.write(Array(script.utf8), to: "module")
        try SystemAgentFixture.root("chmod 755 '\(agent.folder.file("module"))'")
        try agent.configure("required pam_exec.so quiet stdout \(agent.folder.file("module"))")
        try agent.keep(["Bank:me --presence per-use:pam"])
        try agent.run("unlock --passphrase-file pass.txt")
        // Without Landlock, access to files is not limited.
        guard try agent.run("--json agent status").text.contains("\"limits_files\":true") else {
            return
        }
        let terminal = try agent.terminal("code Bank --at 59")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("irc") && terminal.screen.contains("works"))
        for word in ["read", "listed", "written", "removed", "changed"] {
            #expect(!terminal.screen.split(separator: "\n").contains { $0.hasSuffix(word) })
        }
        #expect(terminal.screen.contains("287082"))
    }

    @Test("other vaults: whatever place a client sends, only its own user's vault is used")
    func otherVaults() throws {
        let agent = try SystemAgentFixture()
        try agent.keep()
        try agent.run("unlock --passphrase-file pass.txt")
        // The test itself runs as another user: root.
        let client = try agent.client()
        let place = try VaultPlace(at: agent.folder.file("state/5/vault"))
        let passphrase = SecretBytes(copying: Array(AgentFixture.passphrase.utf8).span)
        let id = try RecordID(parsing: [UInt8](1...16).span)
        let requests: [AgentRequest] = [
            .list(place), .check(place), .standing(place, since: 0), .lockOut(place, id),
            .code(place, id, .moment(59, offset: 0, isRefresh: false), .none),
            .unlock(place, .passphrase(passphrase), ceiling: 20, .standard),
            .open(place, .passphrase(passphrase), ceiling: 20),
            .prove(place, .passphrase(passphrase), ceiling: 20),
            .move(.give(.passphrase(passphrase), ceiling: 20)),
        ]
        for request in requests {
            let response = try client.send(request)
            #expect("\(response)" == "failed(SecretVault.VaultError.notFound)", "\(request)")
        }
        #expect("\(try client.send(.lock(place)))" == "notHeld")
        #expect("\(try client.send(.lockAll))" == "done")
        guard case .status(let status) = try client.send(.status) else {
            Issue.record("no status")
            return
        }
        #expect(status.vaults.isEmpty)
        #expect(throws: AgentFailure.malformed) { try client.send(.stop) }
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("checks: a client that skips the check or answers in the person's place gets no code")
    func checks() throws {
        let agent = try SystemAgentFixture()
        try agent.configure("required pam_deny.so")
        try agent.keep(["Bank:me --presence per-use:pam"], of: .root)
        try agent.run("unlock --passphrase-file pass.txt", as: .root)
        let client = try agent.client()
        guard case .listing(let listing) = try client.send(.list(.ofSystem)) else {
            Issue.record("no list")
            return
        }
        let id = listing.entries[0].summary.id
        for isRefresh in [false, true] {
            let time = CodeTime.moment(59, offset: 0, isRefresh: isRefresh)
            let skipped = try client.send(.code(.ofSystem, id, time, .none))
            #expect("\(skipped)" == "failed(SecretVault.VaultError.presenceNeeded)")
        }
        let time = CodeTime.moment(59, offset: 0, isRefresh: false)
        let edits: [VaultEdit] = [
            .remove(id, purge: true), .remove(id, purge: false),
            .rename(id, to: EntryName(typed: "Other:me")),
        ]
        for edit in edits {
            let skipped = try client.send(.edit(.ofSystem, edit, .none))
            #expect("\(skipped)" == "failed(SecretVault.VaultError.presenceNeeded)")
        }
        for request in [
            .code(.ofSystem, id, time, .modules("")), .edit(.ofSystem, edits[0], .modules("")),
        ] as [AgentRequest] {
            let denied = try client.send(request, asking: { _ in .cancel })
            guard case .refused = denied else {
                Issue.record("\(denied)")
                return
            }
        }
    }

    @Test("guesses: wrong passphrases at new entries lock the user's vault out")
    func guesses() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(of: .root)
        try agent.run("unlock --passphrase-file pass.txt", as: .root)
        for number in 1...LockOutPolicy.firstFailureWithWait + 2 {
            try agent.run(
                "add -q N\(number) --presence per-use:passphrase --secret-file key.txt", as: .root)
        }
        let client = try agent.client()
        guard case .listing(let listing) = try client.send(.list(.ofSystem)) else {
            Issue.record("no list")
            return
        }
        var refused = 0
        for entry in listing.entries.map(\.summary)
        where entry.accessControl.presence.isPerUse {
            let guess = AgentPresence.opener(.passphrase(SecretBytes(text: "guess")))
            let time = CodeTime.moment(59, offset: 0, isRefresh: false)
            if case .refused = try client.send(.code(.ofSystem, entry.id, time, guess)) {
                refused += 1
            }
        }
        #expect(refused == LockOutPolicy.firstFailureWithWait)
        let unlocking = try agent.run("unlock --passphrase-file pass.txt", as: .root, status: 4)
        #expect(AgentFixture.errors(unlocking).contains("too many failures"))
    }

    @Test("crowd: one user's silent, slow and broken clients do not keep others from being served")
    func crowd() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(of: .games)
        try agent.keep(of: .man)
        for user in [SystemAgentFixture.User.games, .man] {
            try agent.run("unlock --passphrase-file pass.txt", as: user)
        }
        let outcome = try agent.shell(
            """
            cat >crowd.py <<'END'
            import os, socket, subprocess
            os.closerange(3, 100)
            held = []
            for number in range(300):
                client = socket.socket(socket.AF_UNIX)
                client.connect("/run/watchword/agent.sock")
                try:
                    client.send([b"", b"\\xc8\\0\\0\\0\\1", os.urandom(40), b"\\xff" * 9][number % 4])
                except OSError:
                    pass
                held.append(client)
            print(subprocess.run(["watchword", "code", "Site", "--at", "59"], capture_output=True).stdout)
            open("ready", "w").close()
            os.read(os.open("go", os.O_RDONLY), 1)
            END
            mkfifo go; python3 crowd.py >out & while [ ! -e ready ]; do :; done; cat out
            """, as: .games)
        #expect(outcome.status == 0)
        #expect(try agent.run("code Site --at 59", as: .man).text == "287082\n")
        try agent.shell("echo >go", as: .games)
        #expect(try agent.run("code Site --at 59", as: .games).text == "287082\n")
    }

    @Test("flood: a user who connects continuously does not keep another user from locking")
    func flood() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(of: .man)
        try agent.run("unlock --passphrase-file pass.txt", as: .man)
        try agent.shell(
            """
            cat >flood.py <<'END'
            import os, socket
            os.closerange(3, 100)
            os.fork(), os.fork()
            held, count = [], 0
            while os.path.exists("going"):
                client = socket.socket(socket.AF_UNIX)
                client.setblocking(False)
                count += 1
                if count == 10000:
                    open("begun", "w").close()
                try:
                    client.connect("/run/watchword/agent.sock")
                except OSError:
                    continue
                held = held[-200:] + [client]
            END
            touch going
            python3 flood.py >/dev/null 2>&1 &
            while [ ! -e begun ]; do :; done
            """, as: .games)
        defer { do { try agent.shell("rm going", as: .games) } catch { Issue.record(error) } }
        for verb in ["agent status", "lock"] {
            try agent.run(verb, as: .man)
        }
        try agent.run("code Site --at 59", as: .man, status: 4)
    }

    @Test("socket: a client refuses a socket in a folder that another user owns or can change")
    func socket() throws {
        let agent = try SystemAgentFixture()
        try agent.keep()
        for change in ["chown games run", "chmod 777 run"] {
            try SystemAgentFixture.root("cd '\(agent.folder.path)'; \(change)")
            let refused = try agent.run("list --passphrase-file pass.txt", status: 3)
            #expect(AgentFixture.errors(refused).contains("does not belong to the system agent"))
            try SystemAgentFixture.root("cd '\(agent.folder.path)'; chown root run; chmod 755 run")
        }
        try agent.run("list --passphrase-file pass.txt")
    }
}
