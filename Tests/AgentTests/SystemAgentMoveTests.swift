import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// Moves of a vault to and from the system agent.
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
struct SystemAgentMoveTests {
    private static let toSystem = "vault move --to-system --passphrase-file pass.txt"
    private static let toUser = "vault move --to-user --passphrase-file pass.txt"

    @Test("a vault that moves to the system agent and back keeps its entries and counters")
    func backAndForth() throws {
        let agent = try SystemAgentFixture()
        try agent.make(["Site:me", "Count:me --type hotp"])
        try agent.run("code Count --passphrase-file pass.txt")
        try agent.run(Self.toSystem)
        let left = try agent.shell("find .local -type f -size +0 | sort").text
        #expect(left == ".local/share/watchword/.watchword/by-name/vault/generation\n")
        let names = try agent.run("list --names --passphrase-file pass.txt").text
        #expect(names == "Count:me\nSite:me\n")
        let code = try agent.run("code Count --passphrase-file pass.txt").text
        #expect(code == "287082\n")
        let again = try agent.run(Self.toSystem)
        #expect(AgentFixture.errors(again).contains("already keeps the vault"))
        try agent.run(Self.toUser)
        let kept = try SystemAgentFixture.root("find '\(agent.folder.path)/state/5' -name vault")
            .text
        #expect(!kept.contains("/state/5/vault\n"))
        let counted = "find '\(agent.folder.path)/state/5/.watchword/by-id' -mindepth 1"
        #expect(try SystemAgentFixture.root(counted).text.isEmpty)
        #expect(try agent.run("code Count --passphrase-file pass.txt").text == "359152\n")
        let check = try agent.run("check --passphrase-file pass.txt").text
        #expect(check.contains("2 entries opened, 0 damaged"))
        #expect(try agent.shell("stat -c %a .local/share/watchword/vault").text == "600\n")
    }

    @Test("a vault that is larger than most requests moves, too")
    func large() throws {
        let agent = try SystemAgentFixture()
        try agent.make()
        try agent.shell(
            """
            for n in $(seq 600); do echo "otpauth://totp/Large:user$n?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3T$((1000 + n))" |
                tr 0-9 A-J; done >uris.txt
            """)
        try agent.run("import -q uris.txt --passphrase-file pass.txt")
        let names = try agent.run("list --names --passphrase-file pass.txt").text
        let size = try agent.shell("stat -c %s .local/share/watchword/vault").text
        #expect(try #require(Int(size.dropLast())) > 100_000)
        try agent.run(Self.toSystem)
        #expect(try agent.run("list --names --passphrase-file pass.txt").text == names)
        try agent.run(Self.toUser)
        #expect(try agent.run("list --names --passphrase-file pass.txt").text == names)
    }

    @Test("a copy of a vault is not imported into that vault, even if the system agent keeps it")
    func ownCopy() throws {
        let agent = try SystemAgentFixture()
        try agent.make()
        try agent.shell("umask 077; cp .local/share/watchword/vault copy")
        try agent.shell(
            "umask 077; watchword init -q --vault other --scrypt-log-n 10 --no-recovery-key "
                + "--passphrase-file pass.txt; "
                + "watchword add -q New:me --vault other --secret-file key.txt --passphrase-file pass.txt"
        )
        try agent.run(Self.toSystem)
        // The vault is once opened for the command, and once held for all connections.
        for unlock in ["", "watchword -q unlock --passphrase-file pass.txt;"] {
            let own = try agent.shell(
                "\(unlock) watchword import copy --export-password-file pass.txt --passphrase-file pass.txt",
                status: nil)
            #expect(own.text.contains("copy: refused: a copy of this vault"))
        }
        let other = try agent.run(
            "import other --export-password-file pass.txt --passphrase-file pass.txt")
        #expect(other.text.contains("New:me"))
    }

    @Test("moving requires the passphrase, and failures are counted")
    func failures() throws {
        let agent = try SystemAgentFixture()
        try agent.make()
        try agent.shell("echo wrong >wrong.txt")
        for _ in 0..<2 { try agent.run("list --passphrase-file wrong.txt", status: 4) }
        try agent.run("vault move --to-system --passphrase-file wrong.txt", status: 4)
        try agent.run(Self.toSystem)
        for _ in 1..<LockOutPolicy.firstFailureWithWait {
            try agent.run("vault move --to-user --passphrase-file wrong.txt", status: 4)
        }
        #expect(try agent.shell("ls .local/share/watchword").text.isEmpty)
        try agent.run("list --passphrase-file wrong.txt", status: 4)
        let refused = try agent.run(Self.toUser, status: 4)
        #expect(AgentFixture.errors(refused).contains("too many failures"))
    }

    @Test("two different vaults are both kept, and both reported")
    func different() throws {
        let agent = try SystemAgentFixture()
        try agent.make(["Own:b"])
        try agent.shell("mv .local own")
        try agent.keep(["System:a"])
        try agent.shell("mv own .local")
        for verb in [Self.toSystem, Self.toUser] {
            let refused = try agent.run(verb, status: 3)
            let errors = AgentFixture.errors(refused)
            #expect(errors.contains("games/.local/share/watchword/vault"))
            #expect(errors.contains("/var/lib/watchword-agent/5/vault"))
        }
        #expect(try agent.run("list --names --passphrase-file pass.txt").text == "Own:b\n")
        try agent.shell("mv .local own")
        #expect(try agent.run("list --names --passphrase-file pass.txt").text == "System:a\n")
    }

    @Test("a diverged file does not finish an interrupted move, even if its generation is greater")
    func diverged() throws {
        let agent = try SystemAgentFixture()
        try agent.make(of: .root)
        let own = ".local/share/watchword/vault"
        try agent.shell("mkdir -m 700 fork; cp -p \(own) fork/vault", as: .root)
        for tag in ["a", "b", "c"] {
            try agent.run(
                "edit Site --tag \(tag) --vault fork/vault --passphrase-file pass.txt", as: .root)
        }
        try agent.run(Self.toSystem, as: .root)
        try agent.run("rename Site Place:me --passphrase-file pass.txt", as: .root)
        let opener = AgentFixture.opener
        guard case .parcel = try agent.client().send(.move(.give(opener, ceiling: 20))) else {
            Issue.record("not given")
            return
        }
        try agent.shell("cp -p fork/vault \(own)", as: .root)
        for verb in [Self.toUser, Self.toSystem] {
            let refused = try agent.run(verb, as: .root, status: 3)
            #expect(AgentFixture.errors(refused).contains("differ; rename "))
        }
        try agent.shell("mv \(own) fork/mine", as: .root)
        try agent.run(Self.toUser, as: .root)
        let listed = try agent.run("list --names --passphrase-file pass.txt", as: .root).text
        #expect(listed == "Place:me\n")
    }

    @Test("a client that omits a step of a move, or sends a different state, erases nothing")
    func steps() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(of: .root)
        let client = try agent.client()
        let opener = AgentFixture.opener
        let guess = VaultOpener.passphrase(SecretBytes(text: "guess"))
        func identity() throws -> VaultIdentity {
            guard case .standing(let standing) = try client.send(.standing(.ofSystem, since: 0))
            else { throw AgentFailure.malformed }
            return standing.identity
        }
        func result(of move: VaultMove) throws -> String { "\(try client.send(.move(move)))" }
        func discard(_ identity: VaultIdentity, _ used: VaultOpener? = nil) throws -> String {
            try result(of: .discard(used ?? opener, identity, ceiling: 20))
        }
        func names() throws -> String {
            try agent.run("list --names --passphrase-file pass.txt", as: .root).text
        }
        let changed = "failed(SecretVault.VaultError.changedMeanwhile)"
        let wrong = "failed(SecretVault.VaultError.wrongPassphrase)"
        let older = try identity()
        try agent.run("rename Site Place:me --passphrase-file pass.txt", as: .root)
        let newest = try identity()
        #expect(older.isOlder(than: newest))
        // Another vault, with the same passphrase.
        let path = agent.folder.file("other")
        try Vault.create(
            at: path, passphrase: SecretBytes(text: AgentFixture.passphrase),
            cost: .lowest, recoveryKey: nil, now: 0)
        let other = try Vault.pack(path)
        // The vault is not being moved at present.
        #expect(try discard(newest) == changed)
        #expect(
            try result(of: .receive(other, opener, ceiling: 20))
                == "failed(SecretVault.VaultError.alreadyExists)")
        #expect(try result(of: .give(guess, ceiling: 20)) == wrong)
        #expect(try result(of: .confirm(older)) == changed)
        #expect(try result(of: .confirm(newest)) == "done")
        #expect(try names() == "Place:me\n")
        // The vault is given to the client, and cannot be used in the agent.
        guard case .parcel = try client.send(.move(.give(opener, ceiling: 20))) else {
            Issue.record("not given")
            return
        }
        #expect("\(try client.send(.open(.ofSystem, opener, ceiling: 20)))" == "moving")
        #expect(try discard(older) == changed)
        #expect(try discard(other.identity) == changed)
        #expect(try discard(newest, guess) == wrong)
        // The agent may be asked to erase this copy, so the client must not erase the other one.
        #expect(try result(of: .confirm(newest)) == changed)
        #expect(
            try result(of: .receive(other, opener, ceiling: 20))
                == "failed(SecretVault.VaultError.otherVault)")
        #expect(try result(of: .activate(guess, ceiling: 20)) == wrong)
        #expect("\(try client.send(.open(.ofSystem, opener, ceiling: 20)))" == "moving")
        #expect(try result(of: .activate(opener, ceiling: 20)) == "done")
        #expect(try names() == "Place:me\n")
        // All steps succeed in order.
        _ = try client.send(.move(.give(opener, ceiling: 20)))
        #expect(try discard(identity()) == "done")
        #expect(
            "\(try client.send(.standing(.ofSystem, since: 0)))"
                == "failed(SecretVault.VaultError.notFound)")
    }

    @Test("a vault with an entry that only PAM opens is moved out only after that check")
    func checked() throws {
        let agent = try SystemAgentFixture()
        try agent.configure("required pam_deny.so")
        try agent.keep(["Site:me", "Bank:me --presence per-use:pam"])
        let failures = LockOutPolicy.firstFailureWithWait
        for left in [failures - 1, failures - 2] {
            let refused = try agent.run(Self.toUser, status: 4)
            #expect(AgentFixture.errors(refused).contains("after \(left) more failures"))
        }
        // The vault stays usable.
        #expect(
            try agent.run("code Site --at 59 --passphrase-file pass.txt").text == "287082\n")
        #expect(try agent.shell("find . -name vault -type f").text.isEmpty)
        try agent.configure("required pam_permit.so")
        try agent.run(Self.toUser)
        #expect(
            try agent.run("code Site --at 59 --passphrase-file pass.txt").text == "287082\n")
    }

    @Test("a change made while a vault moves out is either in the copy or not saved")
    func saving() throws {
        let agent = try SystemAgentFixture()
        try agent.keep(["Count:me --type hotp"])
        try agent.run("unlock -q --passphrase-file pass.txt")
        try agent.run("code Count")
        for _ in 0..<3 {
            // All requests wait for the lock, and continue in any order.
            let lock = "'\(agent.folder.path)'/state/5/.watchword/by-name/vault/lock"
            try SystemAgentFixture.root(
                "touch \(lock); chown irc \(lock); chmod 600 \(lock); "
                    + "setsid flock \(lock) sleep 1 </dev/null >/dev/null 2>&1 &")
            let printed = try agent.shell(
                """
                for n in 1 2 3 4; do watchword code Count >code$n 2>error$n </dev/null & done
                watchword -q \(Self.toUser)
                wait
                cat code?
                """, status: nil)
            let codes = printed.text.split(separator: "\n")
            #expect(Set(codes).count == codes.count)
            // The agent may have been too busy.
            try agent.run("-q \(Self.toUser)")
            let errors = try agent.shell("cat error?").text
            #expect(!errors.contains("watchword init"), "\(errors)")
            let next = try agent.run("code Count --passphrase-file pass.txt").text
            #expect(!codes.contains(Substring(next.dropLast())))
            try agent.run("-q \(Self.toSystem)")
            try agent.run("unlock -q --passphrase-file pass.txt")
        }
    }

    @Test("the user's own agent locks a vault that moves to the system agent")
    func ownAgent() throws {
        let agent = try SystemAgentFixture()
        try agent.make()
        let moved = try agent.shell(
            """
            mkdir -m 700 runtime
            export XDG_RUNTIME_DIR="$PWD/runtime"
            cp .local/share/watchword/vault copy
            watchword -q unlock --passphrase-file pass.txt
            watchword -q code Site --at 59 </dev/null
            watchword -q \(Self.toSystem)
            watchword agent status
            install -m 600 copy .local/share/watchword/vault
            watchword -q code Site --at 59 </dev/null || echo locked
            watchword -q agent stop
            """)
        #expect(
            moved.text == """
                287082
                The agent is running; no vault is unlocked.
                The system agent is running; no vault is unlocked.
                locked

                """)
    }

    @Test(
        "a copy that does not open is not stored; replacing a confirmed copy requires the same key")
    func arriving() throws {
        let agent = try SystemAgentFixture()
        try agent.make(of: .root)
        let path = agent.folder.file("root/\(AgentFixture.vault)")
        let client = try agent.client()
        func opener(_ text: String) -> VaultOpener { .passphrase(SecretBytes(text: text)) }
        func result(of move: VaultMove) throws -> String { "\(try client.send(.move(move)))" }
        let first = try Vault.pack(path)
        #expect(
            try result(of: .receive(first, opener("guess"), ceiling: 20))
                == "failed(SecretVault.VaultError.wrongPassphrase)")
        let stored = try SystemAgentFixture.root("ls -A '\(agent.folder.path)'/state/0").text
        #expect(stored == "move.lock\n")
        // The passphrase changes between two attempts.
        #expect(
            try result(of: .receive(first, opener(AgentFixture.passphrase), ceiling: 20)) == "done")
        try agent.shell("echo new >new.txt", as: .root)
        try agent.run(
            "passphrase -q --passphrase-file pass.txt --new-passphrase-file new.txt "
                + "--scrypt-log-n 10", as: .root)
        let second = try Vault.pack(path)
        #expect(try result(of: .confirm(second.identity)).contains("changedMeanwhile"))
        #expect(try result(of: .receive(second, opener("new"), ceiling: 20)) == "done")
        #expect(try result(of: .confirm(second.identity)) == "done")
        // From now on, the client may have erased its copy.
        try agent.run("edit Site --note later --passphrase-file new.txt", as: .root)
        let third = try Vault.pack(path)
        #expect(try result(of: .receive(third, opener("new"), ceiling: 20)) == "done")
        #expect(try result(of: .confirm(third.identity)) == "done")
        try agent.run("rekey -q --passphrase-file new.txt", as: .root)
        let fourth = try Vault.pack(path)
        #expect(third.identity.isOlder(than: fourth.identity))
        #expect(try result(of: .receive(fourth, opener("new"), ceiling: 20)).contains("otherVault"))
        #expect(try result(of: .confirm(third.identity)) == "done")
        try agent.run("vault move --to-user --passphrase-file new.txt", as: .root)
        #expect(
            try agent.run("code Site --at 59 --passphrase-file new.txt", as: .root).text
                == "287082\n")
    }

    @Test(
        "a move that is killed at any system call loses nothing, and the same command finishes it",
        .enabled(if: ForeignProgram.canTrace), arguments: [Self.toSystem, Self.toUser])
    func killed(verb: String) throws {
        let agent = try SystemAgentFixture()
        let calls = "rename,renameat,renameat2,linkat,unlinkat,fsync"
        func prepare() throws {
            try agent.make(["Site:me", "Bound:me --this-device=file"])
            if verb == Self.toUser { try agent.run(Self.toSystem) }
        }
        try prepare()
        let traced = try agent.shell(
            "strace -f -o calls -e trace=\(calls) watchword -q \(verb); wc -l <calls")
        let log = try agent.shell("cat calls").text.split(separator: "\n").map(String.init)
        #expect(!traced.text.isEmpty)
        var counts: [String: Int] = [:]
        var places: [(name: String, count: Int)] = []
        for line in log {
            let name = String(line.drop { !$0.isLetter }.prefix { $0 != "(" })
            guard calls.split(separator: ",").contains(Substring(name)) else { continue }
            counts[name, default: 0] += 1
            places.append((name, counts[name, default: 0]))
        }
        #expect(places.count > 5)
        // Each run takes more than a second.
        for place in places.enumerated().filter({ $0.offset % 3 == 0 }).map(\.element) {
            try agent.shell("rm -rf .local")
            try SystemAgentFixture.root(
                // The agent may be recording the use of a code.
                "until rm -rf '\(agent.folder.path)'/state/5; do :; done")
            try prepare()
            try agent.shell(
                "strace -f -o /dev/null -e trace=\(place.name) "
                    + "-e inject=\(place.name):signal=KILL:when=\(place.count) watchword -q \(verb)",
                status: nil)
            try agent.run("-q \(verb)")
            for name in ["Site", "Bound"] {
                let code = "code \(name) --at 59 --passphrase-file pass.txt"
                #expect(try agent.run(code).text == "287082\n", "killed at \(place)")
            }
            // Each place contains only the keys that its vault needs.
            let keys = try SystemAgentFixture.root(
                "find '\(agent.folder.path)' -path '*/device-keys/*' -type f ! -name '*.*'"
            ).text
            #expect(keys.split(separator: "\n").count == 1, "killed at \(place): \(keys)")
            // At the destination, the state in which the vault arrived is its previous generation.
            let source = verb == Self.toSystem ? "games" : "state"
            let copies = try SystemAgentFixture.root(
                "cd '\(agent.folder.path)'; find state/5 games -name vault -type f "
                    + "-o -name moving -o -path '\(source)/*' '(' -name previous -o -name new ')'"
            ).text
            #expect(copies.split(separator: "\n").count == 1, "killed at \(place): \(copies)")
        }
    }
}
