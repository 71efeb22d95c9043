import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// Attacks on the agent by another program of the same user (see Security.md).
@Suite(.serialized)
struct AgentAttackTests {
    private static let socket = "run/watchword/agent.sock"

    @Test("memory: neither process can be read, traced or dumped by its own user")
    func memory() throws {
        let agent = try AgentFixture(asOrdinaryUser: true)
        try agent.run(AgentFixture.unlock)
        try agent.expectProtected(agent.keyHolder(), "key holder")
        try agent.expectProtected(agent.supervisor(), "supervisor")
        // Verify that the process is still running: otherwise, the test would pass because it has
        // ended.
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test(
        "memory: an agent that is traced from its start does not run",
        .enabled(if: ForeignProgram.canTrace))
    func traced() throws {
        let agent = try AgentFixture()
        let outcome = try agent.shell(
            "strace -f -qq -o /dev/null watchword-agent \"$PWD\" >report", status: 6)
        #expect(AgentFixture.errors(outcome) == "")
        #expect(
            String(decoding: try agent.folder.bytes(of: "report"), as: UTF8.self)
                .contains("ptrace"))
    }

    @Test(
        "socket: another user who can open the socket's folder, such as root, is not served",
        .enabled(if: geteuid() == 0, "needs root"))
    func otherUser() throws {
        let agent = try AgentFixture(asOrdinaryUser: true)
        try agent.run(AgentFixture.unlock)
        #expect(throws: AgentFailure.noResponse) { try agent.client().send(.status) }
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test(
        "memory: as installed, a process cannot be read before it protects itself",
        arguments: [
            "watchword", "watchword-agent", "watchword-clipboard", "watchword-courier",
            "watchword-exports", "watchword-presence", "watchword-reader", "watchword-screenshot",
            "watchword-token",
        ])
    func loading(_ name: String) throws {
        // Root can read every file and every process, so the test needs an ordinary user.
        guard geteuid() == 0 else { return }
        let table = try String(
            contentsOf: PackageFolder.root.appending(path: "Scripts/files"), encoding: .utf8)
        let row = try Regex(#" (\d+) \S+/\#(name) +program"#)
        let installed = String(try #require(try row.firstMatch(in: table)?.output[1].substring))
        let agent = try AgentFixture([], asOrdinaryUser: true)
        for (mode, status) in [("755", 0), (installed, 2)] as [(String, Int32)] {
            let program = agent.folder.file("program-\(mode)")
            let copy = try ForeignProgram(path: "/usr/bin/install").run([
                "-m", mode, BuiltProgram.path(name), program,
            ])
            #expect(copy.status == 0)
            // The dynamic linker blocks while it writes its messages, until they are read.
            let outcome = try agent.shell(
                """
                '\(program)' --version >/dev/null || exit 9
                mkfifo pipe; exec 3<>pipe
                LD_DEBUG=all '\(program)' --version 2>&3 >/dev/null &
                head -c 1 <&3 >/dev/null
                (: </proc/$!/mem); status=$?
                kill -9 $!; rm pipe; exit $status
                """, status: status)
            #expect(AgentFixture.errors(outcome).contains("ermission denied") == (status != 0))
        }
    }

    @Test("memory: the key holder can neither start a program, connect, nor reach other files")
    func confinement() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let status = try agent.shell(
            "grep -E '^(Seccomp|NoNewPrivs):' /proc/\(agent.keyHolder())/status"
        ).text
        #expect(status == "NoNewPrivs:\t1\nSeccomp:\t2\n")
        // A vault in another folder is not opened, even if the client sends a false folder
        // identity.
        let client = try agent.client()
        try agent.shell(
            "mkdir -m 700 far; watchword init -q --vault far/v --scrypt-log-n 10 "
                + "--no-recovery-key --passphrase-file pass.txt")
        let far = try VaultPlace(at: agent.folder.file("far/v"))
        let passphrase = SecretBytes(copying: Array(AgentFixture.passphrase.utf8).span)
        func unlock(_ place: VaultPlace) throws -> String {
            let request = AgentRequest.unlock(
                place, .passphrase(passphrase), ceiling: 20, .standard)
            return "\(try client.send(request))"
        }
        #expect(try unlock(far) == "outOfReach")
        let near = try VaultPlace(at: agent.folder.file(AgentFixture.vault))
        #expect(try unlock(far.claiming(near.folder)) == "failed(SecretVault.VaultError.notFound)")
    }

    @Test("memory: the key holder's sandbox allows only what the key holder needs")
    func sandbox() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("own/deep"), withIntermediateDirectories: true)
        try folder.write([1], to: "other")
        let outcome = try ForeignProgram(path: BuiltProgram.path("KeyHolderProbe")).run([
            folder.file("own"), folder.file("other"),
        ])
        var expected = [
            "limits true", "inside done", "move done", "outside Permission denied",
            "make outside Permission denied", "users Permission denied", "boot done",
            "connect Operation not permitted", "internet Operation not permitted",
            "exec Operation not permitted", "spawn Operation not permitted",
            "signal Operation not permitted", "thread done", "",
        ]
        let lines = outcome.text.components(separatedBy: "\n")
        if lines.first == "limits false" {
            // Without Landlock, only the system calls are limited.
            expected[0] = "limits false"
            expected.replaceSubrange(3...5, with: lines[3...5])
        }
        #expect(lines == expected)
    }

    @Test("emulator: a helper that talks to an emulated TPM connects to no other port")
    func emulator() throws {
        // The sandboxed process cannot write to a file.
        let outcome = try ForeignProgram(path: "/bin/sh").run([
            "-c", "'\(BuiltProgram.path("KeyHolderProbe"))' --emulator | cat",
        ])
        let lines = outcome.text.components(separatedBy: "\n")
        // Before Linux 6.7, the sandbox does not limit ports.
        #expect(
            ["port 2 Permission denied", "port 2 Connection refused"].contains(lines[1]))
        #expect(
            [lines[0]] + lines[2...] == [
                "port 1 Connection refused", "datagram Operation not permitted",
                "local Operation not permitted", "",
            ])
    }

    @Test("codes: a client that skips the check gets no code for an entry that requires a check")
    func codes() throws {
        let agent = try AgentFixture([
            "A:a --presence per-use:passphrase --secret-file key.txt",
            "B:b --secret-file key.txt",
        ])
        try agent.run(AgentFixture.unlock)
        let client = try agent.client()
        let place = try VaultPlace(at: agent.folder.file(AgentFixture.vault))
        guard case .listing(let listing) = try client.send(.list(place)) else {
            Issue.record("no list")
            return
        }
        let ids = listing.entries.map(\.summary.id)
        for isRefresh in [false, true] {
            let time = CodeTime.moment(59, offset: 0, isRefresh: isRefresh)
            let refused = try client.send(.code(place, ids[0], time, .none))
            #expect("\(refused)" == "failed(SecretVault.VaultError.presenceNeeded)")
            // The wrong kind of check is refused before it runs.
            let other = try client.send(.code(place, ids[0], time, .modules("")))
            #expect("\(other)" == "failed(SecretVault.VaultError.differentCheckRequired)")
            guard case .code(let code) = try client.send(.code(place, ids[1], time, .none)) else {
                Issue.record("no code")
                return
            }
            #expect(code.text == "287082")
        }
    }

    @Test("guesses: wrong passphrases for new entries lock the vault out")
    func guesses() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        // This change needs no check.
        for number in 1...LockOutPolicy.firstFailureWithWait + 2 {
            try agent.run("add -q N\(number) --presence per-use:passphrase --secret-file key.txt")
        }
        let (client, place) = (try agent.client(), try agent.place())
        let entries = try agent.listing(client, of: place).entries.map(\.summary)
        var refused = 0
        for entry in entries where entry.accessControl.presence.isPerUse {
            let guess = AgentPresence.opener(.passphrase(SecretBytes(text: "guess")))
            let time = CodeTime.moment(59, offset: 0, isRefresh: false)
            switch try client.send(.code(place, entry.id, time, guess)) {
            case .refused: refused += 1
            case .failed(.lockedOut): break
            case let other: Issue.record("\(other)")
            }
        }
        #expect(refused == LockOutPolicy.firstFailureWithWait)
        let unlocking = try agent.run(AgentFixture.unlock, status: 4)
        #expect(AgentFixture.errors(unlocking).contains("too many failures"))
        // No question is asked during the wait.
        let terminal = try agent.terminal("code N1 --at 59")
        try terminal.waitFor("Locked for")
        try terminal.type("\n")
        #expect(try terminal.end() == 4)
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("guesses: the highest failure counts that the file can hold cause no crash")
    func greatestCounts() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        try agent.shell(
            """
            cat >forge.py <<'END'
            import base64, glob, hashlib
            path = glob.glob(".local/share/watchword/.watchword/by-id/*/attempts")[0]
            most, boot = 2 ** 63 - 1, base64.b64encode(bytes(16)).decode()
            lines = open(path, "rb").read().split(b"\\n")[:2]
            lines += [b"sequence 1000", f"vault-failures {most} {most} 0 0 {boot} 0".encode(), b""]
            text = b"\\n".join(lines)
            text += b"end " + base64.b64encode(hashlib.sha256(text).digest()) + b"\\n"
            open(path, "r+b").write(text.ljust(4096, b"\\0"))
            END
            python3 forge.py
            """)
        let (client, place) = (try agent.client(), try agent.place())
        let id = try agent.listing(client, of: place).entries[0].summary.id
        // An agent that has crashed would not respond.
        _ = try client.send(.lockOut(place, id))
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("path: a second agent, a link and a file at the socket's path are refused")
    func path() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        try agent.shell("watchword-agent \"$PWD\" >report", status: 6)
        #expect(try agent.run("code Site --at 59").text == "287082\n")
        // Other files at the path are not mistaken for the agent.
        try agent.shell("mkdir -p -m 700 other other/watchword")
        for fake in ["ln -s ../../\(Self.socket)", "echo >"] {
            try agent.shell("cd other/watchword; \(fake) agent.sock")
            let refused = try agent.shell(
                "XDG_RUNTIME_DIR=$PWD/other watchword agent status", status: 3)
            #expect(AgentFixture.errors(refused).contains("another program or file occupies"))
            try agent.shell("rm other/watchword/agent.sock")
        }
        // A folder that others can open is not accepted, either.
        try agent.shell("chmod 755 run/watchword")
        let exposed = try agent.run("agent status", status: 3)
        #expect(AgentFixture.errors(exposed).contains("other users can open this folder"))
        try agent.shell("chmod 700 run/watchword")
        // A stale socket file is replaced.
        try agent.shell(
            "kill -9 $(ps -o ppid= -p \(agent.keyHolder())); "
                + "while watchword agent status | grep -q vault; do :; done; ls \(Self.socket)")
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("crowd: clients that are silent, slow or never read do not keep others from being served")
    func crowd() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let path = agent.folder.file(Self.socket)
        var clients: [Held] = []
        for number in 0..<70 {
            let client = Held(try LocalSocket.connect(to: path))
            // Some clients send half a request.
            if number % 2 == 0 { try client.file.writeAll([200, 0, 0, 0, 1].span) }
            clients.append(client)
        }
        for _ in 0..<3 { #expect(try agent.run("code Site --at 59").text == "287082\n") }
        let codes = try agent.together(
            Array(repeating: "watchword code Site --at 59", count: 64))
        #expect(codes == String(repeating: "287082\n", count: 64))
        withExtendedLifetime(clients) {}
    }

    @Test("a request that violates the protocol ends only its own connection")
    func garbage() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let path = agent.folder.file(Self.socket)
        var random = SeededGenerator(seed: 7)
        // Messages of two bytes are left out: they may be a request to lock, which is the same in
        // every version.
        for count in [1, 3, 40, 4000] {
            let client = try LocalSocket.connect(to: path)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            try client.writeAll((UInt32(count).littleEndianBytes + bytes).span)
        }
        for header: [UInt8] in [[0, 0, 0, 0], [255, 255, 255, 255]] {
            try LocalSocket.connect(to: path).writeAll(header.span)
        }
        #expect(try agent.run("code Site --at 59").text == "287082\n")
    }

    @Test("killing the agent during any request damages nothing and repeats no counter")
    func killedDuringRequests() throws {
        let agent = try AgentFixture([
            "Count:me --type hotp --secret-file key.txt", "Site:me --secret-file key.txt",
        ])
        for verb in [
            "code Count", "code Site", "list", "check", "verify 287082 Site", AgentFixture.unlock,
            "lock", "agent status", "agent stop",
        ] {
            try agent.run(AgentFixture.unlock)
            let holder = try agent.keyHolder()
            try agent.together(["watchword \(verb) >/dev/null 2>&1", "kill -9 \(holder)"])
            // Whatever response the client got, the next agent starts.
            try agent.shell("while [ -e \(Self.socket) ]; do watchword agent stop || true; done")
        }
        let check = try agent.run("check --passphrase-file pass.txt").text
        #expect(check.contains("2 entries opened, 0 damaged"))
        var seen: Set<String> = []
        try agent.run(AgentFixture.unlock)
        for _ in 0..<4 {
            let isNew = seen.insert(try agent.run("code Count").text).inserted
            #expect(isNew)
        }
    }

    @Test("locking and unlocking at the same time leaves the vault either locked or unlocked")
    func unlockAndLock() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let commands = [
            "watchword \(AgentFixture.unlock)", "watchword lock", "watchword lock --all",
            "watchword list --no-agent --passphrase-file pass.txt >/dev/null",
        ]
        try agent.together(Array(repeating: commands, count: 5).flatMap { $0 })
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run("code Site --at 59").text == "287082\n")
        try agent.run("lock")
        try agent.run("code Site --at 59", status: 4)
    }

    /// A class that allows connections in a collection.
    private final class Held {
        let file: FileDescriptor
        init(_ file: consuming FileDescriptor) { self.file = file }
    }
}
