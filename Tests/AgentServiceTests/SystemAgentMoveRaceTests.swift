import Cryptography
import Foundation
import POSIX
import SecretVault
import TestSupport
import Testing
import VaultAgent

/// Moves that run at once, and processes that are killed meanwhile: a complete copy always exists.
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

    @Test(
        "two moves at once lose nothing, wherever one of them is killed",
        arguments: [(toSystem, toSystem), (toSystem, toUser), (toUser, toUser)])
    func atOnce(verbs: (String, String)) throws {
        let agent = try SystemAgentFixture()
        func prepare() throws {
            try agent.shell("rm -rf .local")
            try SystemAgentFixture.root("rm -rf '\(agent.folder.path)'/state/5")
            try agent.make()
            if verbs.0 == Self.toUser { try agent.run(Self.toSystem) }
        }
        try prepare()
        try agent.shell("strace -f -o calls -e trace=\(Self.calls) watchword -q \(verbs.0)")
        let log = try agent.shell("cat calls").text
        let places = places(in: log, limit: 8)
        #expect(places.count > 3)
        for place in places {
            try prepare()
            try agent.shell(
                "strace -f -o calls \(place.fault) watchword -q \(verbs.0) & "
                    + "watchword -q \(verbs.1); wait", status: nil)
            let paths = "'\(agent.folder.path)'/state/5 '\(agent.folder.path)'/games/.local"
            let copies = try SystemAgentFixture.root("find \(paths) -name vault -type f || true")
            #expect(!copies.text.isEmpty, "killed at \(place)")
            try agent.run("-q \(verbs.0)")
            let code = try agent.run("code Site --at 59 --passphrase-file pass.txt").text
            #expect(code == "287082\n", "killed at \(place)")
            let left = try SystemAgentFixture.root(
                "find \(paths) -name vault -type f -o -name previous -o -name new -o -name moving || true"
            )
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
