import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

@testable import Agent

/// The agent's responses while and after it locks a vault, and to clients other than `watchword`.
@Suite(.serialized)
struct AgentLockTests {
    private let opener = VaultOpener.passphrase(
        SecretBytes(copying: Array(AgentFixture.passphrase.utf8).span))

    @Test("a lock during a presence check ends it without a code")
    func lockDuringCheck() throws {
        let agent = try AgentFixture(["A:a --presence per-use:pam --secret-file key.txt"])
        try agent.installModules()
        // The modules accept any answer.
        try agent.configure("optional pam_unix.so\nauth required pam_permit.so")
        try agent.shell("bin/watchword \(AgentFixture.unlock)")
        for isLocked in [false, true] {
            let terminal = try agent.terminal("code A --at 59", program: "bin/watchword")
            try terminal.waitFor("assword: ")
            if isLocked { try agent.run("lock") }
            try terminal.type("any\n")
            #expect(try terminal.end() == (isLocked ? 4 : 0))
            #expect(terminal.screen.contains("287082") == !isLocked)
        }
    }

    @Test("a lock during a presence check uses up no counter")
    func lockDuringCounter() throws {
        let agent = try AgentFixture([
            "Count:a --type hotp --presence per-use:pam --secret-file key.txt"
        ])
        try agent.installModules()
        try agent.configure("optional pam_unix.so\nauth required pam_permit.so")
        try agent.shell("bin/watchword \(AgentFixture.unlock)")
        let terminal = try agent.terminal("code Count", program: "bin/watchword")
        try terminal.waitFor("assword: ")
        try agent.run("lock")
        try terminal.type("any\n")
        #expect(try terminal.end() == 4)
        try agent.configure("required pam_permit.so")
        let first = try agent.shell("bin/watchword code Count --passphrase-file pass.txt")
        #expect(first.text == "755224\n")
    }

    @Test("one check permits current codes, and no others")
    func refresh() throws {
        let agent = try AgentFixture([
            "A:a --presence per-use:passphrase --secret-file key.txt"
        ])
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        let id = try agent.listing(client, of: place).entries[0].summary.id
        func response(
            in seconds: Int64, offset: UInt64 = 0, isRefresh: Bool = true,
            _ presence: AgentPresence = .none
        ) throws -> String {
            let moment = SystemClock.unixTime() + seconds
            let time = CodeTime.moment(moment, offset: offset, isRefresh: isRefresh)
            return "\(try client.send(.code(place, id, time, presence)))"
        }
        let refused = "failed(SecretVault.VaultError.presenceNeeded)"
        #expect(try response(in: 0) == refused)
        #expect(try response(in: 0, isRefresh: false, .opener(opener)).hasPrefix("code"))
        // `watch` requests the code of the next step when that step begins.
        #expect(try response(in: 0).hasPrefix("code"))
        #expect(try response(in: 0, offset: 1).hasPrefix("code"))
        for seconds in [60, -60, 315_360_000] as [Int64] {
            #expect(try response(in: seconds) == refused)
        }
        #expect(try response(in: 0, offset: 2) == refused)
        #expect(try response(in: 0, isRefresh: false) == refused)
        try agent.run("lock")
        #expect(try response(in: 0) == "notHeld")
    }

    @Test("a restored file does not repeat a counter that the agent has issued")
    func restored() throws {
        let agent = try AgentFixture(["Count:me --type hotp --secret-file key.txt"])
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run("code Count").text == "755224\n")
        // The agent may be recording the use of the code.
        try agent.shell("until cp -a .local/share/watchword backup; do rm -r backup; done")
        #expect(try agent.run("code Count").text == "287082\n")
        try agent.shell(
            """
            until rm -rf .local/share/watchword/.watchword; do :; done
            cp -a backup/. .local/share/watchword/
            """)
        let refused = try agent.run("code Count", status: 4)
        #expect(AgentFixture.errors(refused).contains("without its last changes, replaced it"))
    }

    @Test("a file that was edited more often elsewhere does not repeat a counter that was issued")
    func diverged() throws {
        let agent = try AgentFixture(["Count:me --type hotp --secret-file key.txt"])
        try agent.shell("mkdir -m 700 other; cp -p \(AgentFixture.vault) other/vault")
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run("code Count").text == "755224\n")
        for tag in ["a", "b", "c"] {
            try agent.run("edit Count --tag \(tag) --vault other/vault --passphrase-file pass.txt")
        }
        try agent.shell("cp -p other/vault \(AgentFixture.vault)")
        let refused = try agent.run("code Count", status: 4)
        #expect(AgentFixture.errors(refused).contains("or a file without its last changes"))
        let warned = try agent.run("code Count --passphrase-file pass.txt")
        #expect(AgentFixture.errors(warned).contains("lacks the last changes saved here"))
    }

    @Test("the agent compares the file that it holds, whatever path a client sends")
    func otherPath() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let (client, place) = (try agent.client(), try agent.place())
        try agent.shell("mkdir -m 700 far; cp -p \(AgentFixture.vault) far")
        let far = try VaultPlace(at: agent.folder.file("far/vault")).claiming(place.folder)
        #expect(try agent.listing(client, of: far).entries[0].summary.issuer == "Site")
        try agent.run("rename Site New:me --passphrase-file pass.txt")
        #expect(try agent.listing(client, of: far).entries[0].summary.issuer == "New")
    }

    @Test("an interrupted unlocking leaves the vault locked")
    func interrupted() throws {
        let agent = try AgentFixture()
        let place = try agent.place()
        let pair = try SocketPair()
        let vaults = HeldVaults(clock: AgentClock.now)
        let service = try AgentServices(holding: vaults, for: .folders([place.folder]))
        let frame = try FrameWriter()
        frame.append(AgentProtocol.version)
        frame.append(AgentRequest.unlock(place, opener, ceiling: 20, .standard))
        try frame.write(to: pair.second)
        pair.second.shutDown()
        let connection = ClientConnection(
            FrameConnection(pair.takeFirst()), Connections.Member(number: 1), service)
        connection.serve()
        #expect(vaults.status().isEmpty)
    }

    @Test("lock, status and stop are answered while all connections wait for a save")
    func busy() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let (place, path) = (try agent.place(), agent.folder.file("run/watchword/agent.sock"))
        let id = try agent.listing(agent.client(), of: place).entries[0].summary.id
        // Saves must wait for this lock.
        let own = try Folder(
            opening: agent.folder.file(".local/share/watchword/.watchword/by-name/vault"))
        let lock = try FileLock("lock", in: own, timeout: .seconds(10))
        var busy: [FrameConnection] = []
        for _ in 1...Connections.limitPerUser {
            let connection = FrameConnection(try LocalSocket.connect(to: path))
            let frame = try FrameWriter()
            frame.append(AgentProtocol.version)
            frame.append(AgentRequest.edit(place, .remove(id, purge: false), .none))
            #expect(try connection.send(frame, timeout: .seconds(10)))
            busy.append(connection)
        }
        guard case .status(let status) = try agent.client().send(.status) else {
            Issue.record("no status")
            return
        }
        #expect(status.vaults.count == 1)
        guard case .done = try agent.client().send(.lock(place)) else {
            Issue.record("not locked")
            return
        }
        withExtendedLifetime(lock) {}
        _ = consume lock
        for connection in busy {
            let received = try connection.receive(
                limit: 1 << 20, idleTime: .seconds(60), timeout: .seconds(10))
            guard case .frame(let frame) = received else { continue }
            #expect(try frame.withBytes { "\(try AgentResponse(parsing: $0))" } == "notHeld")
        }
        guard case .done = try agent.client().send(.stop) else {
            Issue.record("not stopped")
            return
        }
    }

    @Test("stop and lock succeed while the agent is ending")
    func ending() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let place = try agent.place()
        let id = try agent.listing(agent.client(), of: place).entries[0].summary.id
        // A save must wait for this lock, and an agent that is ending waits for the save.
        let own = try Folder(
            opening: agent.folder.file(".local/share/watchword/.watchword/by-name/vault"))
        let lock = try FileLock("lock", in: own, timeout: .seconds(10))
        let busy = FrameConnection(
            try LocalSocket.connect(to: agent.folder.file("run/watchword/agent.sock")))
        let frame = try FrameWriter()
        frame.append(AgentProtocol.version)
        frame.append(AgentRequest.edit(place, .remove(id, purge: false), .none))
        #expect(try busy.send(frame, timeout: .seconds(10)))
        guard case .done = try agent.client().send(.stop) else {
            Issue.record("not stopped")
            return
        }
        let printed = try agent.together([
            "watchword agent stop; echo $?", "watchword lock; echo $?",
            "watchword lock --all; echo $?",
        ])
        #expect(printed == "0\n0\n0\n")
        withExtendedLifetime(lock) {}
    }

    @Test("an agent of a different version can be locked and stopped, and does nothing else")
    func otherVersion() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let path = agent.folder.file("run/watchword/agent.sock")
        func response(_ request: [UInt8]) throws -> [UInt8] {
            let socket = try LocalSocket.connect(to: path)
            try socket.writeAll((UInt32(request.count).littleEndianBytes + request).span)
            let received = try FrameConnection(socket).receive(
                limit: 100, idleTime: .seconds(10), timeout: .seconds(10))
            guard case .frame(let frame) = received else { return [] }
            return frame.withBytes { [UInt8](copying: $0) }
        }
        let refused = try response([99, 3])
        #expect(try response([99, 2, 0]) == refused)
        #expect(try agent.run("code Site --at 59").text == "287082\n")
        let done = try response([99, 2])
        #expect(done != refused)
        try agent.run("code Site --at 59", status: 4)
        #expect(try response([99, 4]) == done)
        try agent.shell("while [ -e run/watchword/agent.sock ]; do :; done")
    }

    @Test("a command does not wait for an agent that does not answer")
    func hung() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let holder = try agent.keyHolder()
        try agent.shell("kill -STOP \(holder)")
        let start = Moment.now
        let terminal = try agent.terminal("code Site --at 59")
        try terminal.waitFor("the vault is unlocked without it")
        try terminal.waitFor("Passphrase: ")
        try terminal.type(AgentFixture.passphrase + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("287082"))
        #expect(Moment.now < start + .seconds(60))
        try agent.shell("kill -CONT \(holder)")
    }

    @Test(
        "a key outside locked memory is not held, unless the agent was started to permit this",
        .enabled(if: geteuid() != 0 || ForeignProgram("setpriv") != nil, "setpriv is missing"))
    func unlockedMemory() throws {
        let agent = try AgentFixture()
        // Without this limit, root can lock any amount of memory.
        let without = geteuid() == 0 ? "setpriv --bounding-set -ipc_lock " : ""
        let unlock = "ulimit -l 0; exec \(without)watchword \(AgentFixture.unlock)"
        let refused = try agent.shell(unlock, status: 6)
        #expect(
            AgentFixture.errors(refused).contains(
                "the agent does not hold the key, because it cannot lock memory for it"))
        #expect(try agent.run("agent status --json").text.contains("\"vaults\":[]"))
        // The running agent keeps its setting.
        try agent.shell(unlock + " --unlocked-memory", status: 6)
        try agent.run("agent stop")
        let warned = try agent.shell(unlock + " --unlocked-memory")
        #expect(AgentFixture.errors(warned).contains("warning: no memory can be locked"))
        // A command without the option does not use such an agent.
        try agent.run("lock")
        let weak = try agent.run(AgentFixture.unlock, status: 6)
        #expect(AgentFixture.errors(weak).contains("was started with --unlocked-memory"))
        let status = try agent.run("agent status").text
        #expect(status.contains("The agent's keys may be written to swap."))
        #expect(try agent.run("agent status --json").text.contains("\"locks_keys\":false"))
        try agent.shell(unlock + " --unlocked-memory")
        #expect(try agent.run("code Site --at 59").text == "287082\n")
        // If memory can be locked, the option has no effect.
        try agent.run("agent stop")
        let usual = try agent.run("\(AgentFixture.unlock) --unlocked-memory")
        #expect(!AgentFixture.errors(usual).contains("warning"))
        #expect(try agent.run("agent status --json").text.contains("\"locks_keys\":true"))
    }

    @Test("a vault whose name is not ASCII is unlocked, and names that look alike differ")
    func names() throws {
        let agent = try AgentFixture()
        for name in ["Schlüssel", "鍵/cafe\u{301}", "d/\u{301}x"] {
            let vault = "--vault '\(name)'"
            try agent.shell("mkdir -p -m 700 \"$(dirname '\(name)')\"")
            try agent.run(
                "init -q \(vault) --scrypt-log-n 10 --no-recovery-key --passphrase-file pass.txt")
            try agent.run("unlock \(vault) --passphrase-file pass.txt")
            #expect(try agent.run("list \(vault)").text == "")
            try agent.run("agent stop")
        }
        let composed = try VaultPlace(at: agent.folder.file("é"))
        #expect(try VaultPlace(at: agent.folder.file("e\u{301}")) != composed)
        #expect(try VaultPlace(at: "/x").folderPath == "/")
    }

    @Test("before a command prompts, it reports a wiped entry or a folder the agent cannot reach")
    func beforePrompts() throws {
        let agent = try AgentFixture([
            "A:a --presence per-use:passphrase --on-failure wipe:1 --secret-file key.txt"
        ])
        try agent.run(AgentFixture.unlock)
        _ = try agent.answering(
            "enter the passphrase again: ", "guess", "code A --at 59", status: 4)
        let wiped = try agent.terminal("code A --at 59")
        _ = try wiped.end()
        #expect(wiped.screen.contains("wiped"))
        #expect(!wiped.screen.contains("passphrase again"))
        try agent.shell(
            "mkdir -m 700 far; watchword init -q --vault far/v --scrypt-log-n 10 "
                + "--no-recovery-key --passphrase-file pass.txt")
        let far = try agent.terminal("unlock --vault far/v")
        #expect(try far.end() == 3)
        #expect(far.screen.contains("the running agent cannot reach this folder"))
        #expect(!far.screen.contains("Passphrase"))
    }
}
