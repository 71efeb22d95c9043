import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// Verifies that a complete copy always exists when moves run at the same time or processes are
/// killed during a move.
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement),
    .enabled(if: ForeignProgram.canTrace))
struct SystemAgentMoveRaceTests {
    private static let toSystem = "vault move --to-system --passphrase-file pass.txt"
    private static let toUser = "vault move --to-user --passphrase-file pass.txt"
    private static let calls = "rename,renameat,renameat2,linkat,unlinkat,ftruncate,fsync"

    /// One system call of a traced thread.
    private struct Place {
        let name: String
        let count: Int

        /// The arguments with which strace kills the process there.
        var fault: String { "-e trace=\(name) -e inject=\(name):signal=KILL:when=\(count)" }
    }

    /// The system calls of the busiest thread in a log of `strace -f`, at most `limit` of them.
    private func places(in log: String, limit: Int) -> [Place] {
        let lines = log.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }
            .filter { $0.count == 2 }
        let threads = Dictionary(grouping: lines) { $0[0] }
        let busiest = threads.values.max { $0.count < $1.count } ?? []
        var counts: [String: Int] = [:]
        var places: [Place] = []
        for line in busiest {
            let name = String(line[1].drop { !$0.isLetter }.prefix { $0 != "(" })
            guard Self.calls.split(separator: ",").contains(Substring(name)) else { continue }
            counts[name, default: 0] += 1
            places.append(Place(name: name, count: counts[name, default: 0]))
        }
        let step = max(1, (places.count + limit - 1) / limit)
        return places.enumerated().filter { $0.offset % step == 0 }.map(\.element)
    }

    /// Traces the process that holds the keys, until it ends or ``end(_:of:)``.
    private func trace(_ agent: SystemAgentFixture, _ arguments: String) throws -> Process {
        let errors = try agent.folder.write([], to: "errors")
        let process = Process()
        process.executableURL = URL(filePath: try #require(ForeignProgram("strace")).path)
        process.arguments =
            ["-f", "-o", agent.folder.file("calls")]
            + arguments.split(separator: " ").map(String.init) + ["-p", "\(try agent.keyHolder())"]
        process.standardInput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
        try process.start()
        while try !String(contentsOfFile: errors, encoding: .utf8).contains("attached") {
            try #require(process.isRunning)
        }
        return process
    }

    /// Ends a trace, and returns its log.
    private func end(_ trace: Process, of agent: SystemAgentFixture) throws -> String {
        // strace inherits blocked signals, so kill it; the kernel then detaches the traced process.
        kill(trace.processIdentifier, SIGKILL)
        trace.waitUntilExit()
        return try String(contentsOfFile: agent.folder.file("calls"), encoding: .utf8)
    }

    @Test(
        "a copy that arrives again replaces nothing until complete, even if the agent is killed",
        arguments: [false, true])
    func again(isNewer: Bool) throws {
        let agent = try SystemAgentFixture()
        let opener = AgentFixture.opener
        try agent.make(of: .root)
        let path = agent.folder.file("root/\(AgentFixture.vault)")
        let first = try Vault.pack(path)
        if isNewer {
            try agent.run("edit Site --note later --passphrase-file pass.txt", as: .root)
        }
        let second = try Vault.pack(path)
        #expect(isNewer == first.identity.isOlder(than: second.identity))
        try agent.shell("rm -r .local", as: .root)
        func send(_ parcel: VaultParcel) throws -> AgentResponse {
            try agent.client().send(.move(.receive(parcel, opener, ceiling: 20)))
        }
        func prepare() throws {
            try SystemAgentFixture.root(
                // The agent may be recording the use of a code.
                "until rm -rf '\(agent.folder.path)'/state/0; do :; done")
            #expect("\(try send(first))" == "done")
        }
        try prepare()
        let counting = try trace(agent, "-e trace=\(Self.calls)")
        #expect("\(try send(second))" == "done")
        let places = places(in: try end(counting, of: agent), limit: 15)
        #expect(places.count > (isNewer ? 7 : 0))
        for place in places {
            try prepare()
            let killing = try trace(agent, place.fault)
            // The agent may be killed before the client connects.
            do { _ = try send(second) } catch is AgentFailure {} catch is SystemCallFailure {}
            _ = try end(killing, of: agent)
            try agent.restart()
            let client = try agent.client()
            #expect(
                "\(try client.send(.move(.activate(opener, ceiling: 20))))" == "done",
                "killed at \(place)")
            let code = try agent.run("code Site --at 59 --passphrase-file pass.txt", as: .root)
            #expect(code.text == "287082\n", "killed at \(place)")
        }
    }

    /// Creates a vault that this move can move.
    private func prepare(_ agent: SystemAgentFixture, for verb: String) throws {
        try agent.shell("rm -rf .local copy .watchword")
        try SystemAgentFixture.root("until rm -rf '\(agent.folder.path)'/state/5; do :; done")
        try agent.make(["Site:me", "Bound:me --this-device=file"])
        if verb == Self.toUser { try agent.run(Self.toSystem) }
    }

    /// The system calls of the agent during a move.
    private func calls(of agent: SystemAgentFixture, in verb: String) throws -> String {
        let counting = try trace(agent, "-e trace=\(Self.calls)")
        try agent.run("-q \(verb)")
        return try end(counting, of: agent)
    }

    private func expectOpen(_ agent: SystemAgentFixture, _ when: Comment) throws {
        for name in ["Site", "Bound"] {
            let code = try agent.run("code \(name) --at 59 --passphrase-file pass.txt")
            #expect(code.text == "287082\n", when)
        }
    }

    @Test(
        "a bound entry opens at the destination only, even if the agent was killed during the move",
        arguments: [toSystem, toUser])
    func bound(verb: String) throws {
        let agent = try SystemAgentFixture()
        let isBack = verb == Self.toUser
        let source = isBack ? "state/5/vault" : "games/\(AgentFixture.vault)"
        let destination = isBack ? "games/" : "state/"
        try prepare(agent, for: verb)
        let places = places(in: try calls(of: agent, in: verb), limit: 20)
        #expect(places.count > 8)
        for place in places {
            try prepare(agent, for: verb)
            try SystemAgentFixture.root(
                "cd '\(agent.folder.path)'; install -o games -m 600 \(source) games/copy")
            let killing = try trace(agent, place.fault)
            try agent.shell("watchword -q \(verb)", status: nil)
            _ = try end(killing, of: agent)
            try agent.restart()
            try agent.run("-q \(verb)")
            try expectOpen(agent, "killed at \(place)")
            try agent.run("code Bound --vault copy --passphrase-file pass.txt", status: 1)
            let keys = try SystemAgentFixture.root(
                "cd '\(agent.folder.path)'; find * -path '*/device-keys/*' -type f ! -name '*.*'"
            ).text.split(separator: "\n")
            let isThere = keys.allSatisfy { $0.hasPrefix(destination) }
            #expect(keys.count == 1 && isThere, "killed at \(place): \(keys)")
        }
    }

    @Test(
        "two moves at once lose nothing, whichever process is killed at any system call",
        arguments: [(toSystem, toSystem), (toSystem, toUser), (toUser, toUser)], [false, true])
    func atOnce(verbs: (String, String), killsAgent: Bool) throws {
        let agent = try SystemAgentFixture()
        func move(tracing arguments: String?) throws {
            let tracer = arguments.map { "strace -f -o calls \($0) " } ?? ""
            try agent.shell(
                "\(tracer)watchword -q \(verbs.0) & watchword -q \(verbs.1); wait", status: nil)
        }
        try prepare(agent, for: verbs.0)
        let log: String
        if killsAgent {
            log = try calls(of: agent, in: verbs.0)
        } else {
            try agent.shell("strace -f -o calls -e trace=\(Self.calls) watchword -q \(verbs.0)")
            log = try agent.shell("cat calls").text
        }
        let places = places(in: log, limit: 8)
        #expect(places.count > 3)
        for place in places {
            try prepare(agent, for: verbs.0)
            if killsAgent {
                let killing = try trace(agent, place.fault)
                try move(tracing: nil)
                _ = try end(killing, of: agent)
                try agent.restart()
            } else {
                try move(tracing: place.fault)
            }
            let paths = "'\(agent.folder.path)'/state/5 '\(agent.folder.path)'/games/.local"
            let copies = try SystemAgentFixture.root("find \(paths) -name vault -type f || true")
            #expect(!copies.text.isEmpty, "killed at \(place)")
            try agent.run("-q \(verbs.0)")
            try expectOpen(agent, "killed at \(place)")
            let source = verbs.0 == Self.toSystem ? "games" : "state"
            let left = try SystemAgentFixture.root(
                "find \(paths) -name vault -type f -o -name moving -o -path '*/\(source)/*' "
                    + "'(' -name previous -o -name new -links 1 ')' || true")
            #expect(left.text.split(separator: "\n").count == 1, "killed at \(place): \(left.text)")
        }
    }

    @Test("a vault that moves back while its original is being erased is not lost")
    func backMeanwhile() throws {
        let agent = try SystemAgentFixture()
        try agent.make()
        try agent.shell(
            """
            strace -f -o /dev/null -e trace=renameat -e inject=renameat:delay_enter=700000 \
                watchword -q \(Self.toSystem) &
            for n in $(seq 20); do watchword -q \(Self.toUser); done
            wait
            """, status: nil)
        try agent.run("-q \(Self.toUser)")
        #expect(
            try agent.run("code Site --at 59 --passphrase-file pass.txt").text == "287082\n")
    }
}
