import CommandLineInterface
import Foundation
import TestSupport
import Testing
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

@testable import ServerCommands

/// `audit follow`, which passes each event on once.
struct AuditFollowTests {
    private let state: ServerProcess.State
    private let context: ServerContext

    init() throws {
        state = try ServerProcess.State()
        let words = ["audit", "follow", "x", "--store", "sqlite:\(state.database)"]
        guard case .run(_, let arguments) = try ArgumentParser<ServerVerb>.parse(words) else {
            throw ServerFailure.needsFile
        }
        context = try ServerContext.open(ServerPaths(arguments), making: true)
    }

    private var record: String { state.folder.file("position") }
    private var file: String { state.folder.file("events.json") }

    /// Adds events of a subject whose name would break a line.
    private func happen(_ count: Int = 1) async throws {
        for _ in 0..<count {
            let event = Event(
                .denied, reason: .wrong, time: ServerContext.now(),
                subject: Subject("alice\n{\"position\":1}\u{2028}"),
                origin: Origin(address: "192.0.2.1", userAgent: "a\"b\\c\nMESSAGE=forged"))
            #expect(try await context.store.commit([.appendEvent(event)]) == .done)
        }
    }

    /// All events of the database, as the API shows them.
    private func expected() async throws -> [String] {
        try await context.verifier.events(after: 0, limit: 10_000).map { event in
            try #require(event.json).renderedLine().text
        }
    }

    private func lines(of path: String) throws -> [String] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map { $0 + "\n" }
    }

    /// A running `audit follow`.
    private final class Follower {
        private let process = Process()

        /// - Parameter output: the file that its standard output goes to.
        init(_ tests: AuditFollowTests, _ arguments: String..., output: String? = nil) throws {
            process.executableURL = URL(filePath: BuiltProgram.path("watchword-server"))
            process.arguments = ["audit", "follow", tests.record] + arguments
            process.environment = tests.state.environment
            if let output {
                if !FileManager.default.fileExists(atPath: output) {
                    try Data().write(to: URL(filePath: output))
                }
                let handle = try FileHandle(forWritingTo: URL(filePath: output))
                try handle.seekToEnd()
                process.standardOutput = handle
            }
            try process.start()
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        func send(_ signal: Int32) { _ = kill(process.processIdentifier, signal) }

        /// Whether the program reads signals from a file, so that they no longer end it.
        private func readsSignals() throws -> Bool {
            let folder = "/proc/\(process.processIdentifier)/fd"
            return try FileManager.default.contentsOfDirectory(atPath: folder).contains { name in
                let file = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(folder)/\(name)")
                return file == "anon_inode:[signalfd]"
            }
        }

        /// Waits, without a time limit, until the condition is true.
        func wait(until isDone: () throws -> Bool) async throws {
            while try !isDone() {
                try #require(process.isRunning)
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        /// Ends the process; returns its exit status or the negative number of the signal.
        func end(_ signal: Int32 = SIGTERM) async throws -> Int32 {
            if signal == SIGTERM { try await wait { try readsSignals() } }
            send(signal)
            return try await onOwnThread { [process] in
                process.waitUntilExit()
                let status = process.terminationStatus
                return process.terminationReason == .exit ? status : -status
            }
        }
    }

    /// Runs the command until the file contains all events.
    private func follow() async throws {
        let follower = try Follower(self, "--output", file)
        let expected = try await expected()
        try await follower.wait {
            try FileManager.default.fileExists(atPath: file)
                && lines(of: file).last == expected.last
        }
        #expect(try await follower.end() == 0)
        #expect(try lines(of: file) == expected)
    }

    @Test("a file gets each event once, as the API shows it, even if the command is killed")
    func killed() async throws {
        defer { context.close() }
        try await happen(3)
        try await follow()
        #expect(try mode(of: file) == 0o600 && mode(of: record) == 0o600)
        for round in 0..<15 {
            let before = try lines(of: file).count
            let follower = try Follower(self, "--output", file)
            try await happen(10 + round)
            // The kill occurs at an arbitrary point between the writes.
            try await follower.wait { try lines(of: file).count > before }
            #expect(try await follower.end(SIGKILL) == -SIGKILL)
        }
        try await follow()
    }

    @Test("the next run completes the output of a killed command, wherever it was interrupted")
    func interrupted() async throws {
        defer { context.close() }
        try await happen(2)
        try await follow()
        let earlier = try Data(contentsOf: URL(filePath: record))
        try await happen(2)
        try await follow()
        let last = try #require(lines(of: file).last).utf8.count
        for missing in [0, 1, last / 2, last - 1, last] {
            let handle = try FileHandle(forUpdating: URL(filePath: file))
            try handle.truncate(atOffset: try handle.seekToEnd() - UInt64(missing))
            try handle.close()
            // In this case, the position was not recorded either.
            try earlier.write(to: URL(filePath: record))
            try setMode(0o600, of: record)
            try await follow()
        }
        // Only the position is missing.
        try removeFile(record)
        try await follow()
    }

    @Test("standard output gets each event once, even across restarts")
    func restarted() async throws {
        defer { context.close() }
        let output = state.folder.file("output")
        for count in 1...3 {
            try await happen(count)
            let follower = try Follower(self, output: output)
            let expected = try await expected()
            try await follower.wait { try lines(of: output).count >= expected.count }
            #expect(try await follower.end() == 0)
            #expect(try lines(of: output) == expected)
        }
    }

    @Test("after HUP, a file that was moved away is no longer written")
    func rotated() async throws {
        defer { context.close() }
        try await happen(2)
        let follower = try Follower(self, "--output", file)
        try await follower.wait {
            try FileManager.default.fileExists(atPath: file) && lines(of: file).count == 2
        }
        try FileManager.default.moveItem(atPath: file, toPath: file + ".1")
        follower.send(SIGHUP)
        try await follower.wait { FileManager.default.fileExists(atPath: file) }
        try await happen(2)
        try await follower.wait { try lines(of: file).count == 2 }
        #expect(try await follower.end() == 0)
        #expect(try await lines(of: file + ".1") + lines(of: file) == expected())
    }

    @Test("the command refuses another database's position, foreign files and a second process")
    func refused() async throws {
        defer { context.close() }
        try await happen(2)
        let follower = try Follower(self, "--output", file)
        try await follower.wait {
            FileManager.default.fileExists(atPath: record)
        }
        let second = try await state.run("audit", "follow", record)
        #expect(second.status == 6 && second.output == [])
        #expect(try await follower.end() == 0)

        let foreign = try state.folder.write(Array("precious".utf8), to: "foreign")
        let refused = try await state.run("audit", "follow", record, "--output", foreign)
        #expect(refused.status == 3)
        #expect(try state.folder.bytes(of: "foreign") == Array("precious".utf8))
        let both = try await state.run("audit", "follow", record, "--output", file, "--journal")
        #expect(both.status == 2)

        let other = try ServerProcess.State()
        #expect(try await other.run("client", "add", "a", "--scope", "verify").status == 0)
        for count in 1...2 {
            let outcome = try await state.run(
                "audit", "follow", record, "--store", "sqlite:\(other.database)")
            #expect(outcome.status == 3 && outcome.output == [], "\(count) events")
            let errors = String(decoding: outcome.errors, as: UTF8.self)
            #expect(errors.contains("a different database"))
            let name = "b\(count)"
            #expect(try await other.run("client", "add", name, "--scope", "verify").status == 0)
        }
        // Without the position file, the last event in the output reveals the wrong database.
        let before = try state.folder.bytes(of: "events.json")
        let mixed = try await state.run(
            "audit", "follow", other.folder.file("position"), "--output", file, "--store",
            "sqlite:\(other.database)")
        #expect(mixed.status == 3)
        #expect(String(decoding: mixed.errors, as: UTF8.self).contains("a different database"))
        #expect(try state.folder.bytes(of: "events.json") == before)
    }

    @Test("events that were deleted before they were passed on are reported")
    func pruned() async throws {
        defer { context.close() }
        try await happen(2)
        try await follow()
        try await happen(3)
        let later = ServerContext.now().adding(seconds: 60)
        _ = try await context.store.prune(Pruning(now: nil, eventsBefore: later))
        try await happen(1)
        let follower = try await onOwnThread { [self] in
            try ForeignProgram(path: BuiltProgram.path("watchword-server")).run(
                ["audit", "follow", record, "--output", file], environment: state.environment
            ) { process in
                // Returns once the file has the last event.
                while (try? lines(of: file).last?.hasPrefix("{\"position\":6,")) != true {
                    usleep(5_000)
                }
                _ = kill(process, SIGTERM)
            }
        }
        #expect(follower.status == 0)
        let errors = String(decoding: follower.errors, as: UTF8.self)
        #expect(errors.contains("after position 2, up to 5, were deleted"))
    }

    @Test("an entry of the journal has a field for each member, and no text can forge a field")
    func entries() async throws {
        defer { context.close() }
        try await happen(1)
        let socket = try DatagramSocket(at: state.folder.file("journal"))
        let events = try await context.verifier.events(after: 0, limit: 10)
        var last: ChainedEvent?
        try EventSink.journal(state.folder.file("journal")).pass(events, noting: &last)
        #expect(last == events.last)
        var rest = try #require(socket.receive())[...]
        var fields: [String: String] = [:]
        while let end = rest.firstIndex(of: 0x0A) {
            let name = String(decoding: rest[..<end], as: UTF8.self)
            let count = rest[(end + 1)..<(end + 9)].reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(fields[name] == nil && rest[end + 9 + count] == 0x0A)
            fields[name] = String(decoding: rest[(end + 9)..<(end + 9 + count)], as: UTF8.self)
            rest = rest[(end + 10 + count)...]
        }
        #expect(rest.isEmpty)
        let time = fields.removeValue(forKey: "WATCHWORD_TIME")
        #expect(time?.hasSuffix("Z") == true)
        #expect(
            fields == [
                "MESSAGE":
                    "denied (wrong) for alice\\u{A}{\"position\":1}\\u{2028} from 192.0.2.1",
                "MESSAGE_ID": "0da2dc7add2e4729a9a44a19c6597b8f", "PRIORITY": "6",
                "SYSLOG_FACILITY": "10", "SYSLOG_IDENTIFIER": "watchword-server",
                "WATCHWORD_POSITION": "1", "WATCHWORD_KIND": "denied",
                "WATCHWORD_REASON": "wrong",
                "WATCHWORD_SUBJECT": "alice\n{\"position\":1}\u{2028}",
                "WATCHWORD_ADDRESS": "192.0.2.1",
                "WATCHWORD_USER_AGENT": "a\"b\\c\nMESSAGE=forged", "WATCHWORD_NOTIFY": "false",
            ])
    }

    @Test("a journal that is missing or full is reported, with the last event that it received")
    func failingJournal() async throws {
        defer { context.close() }
        try await happen(1)
        let event = try #require(try await context.verifier.events(after: 0, limit: 1).first)
        func last(of events: [ChainedEvent], in name: String) throws -> ChainedEvent? {
            var last: ChainedEvent?
            do {
                try EventSink.journal(state.folder.file(name)).pass(events, noting: &last)
                Issue.record("\(name)")
            } catch ServerFailure.journal(let failure) {
                #expect(failure.isNobodyListening == (name == "missing"))
            }
            return last
        }
        #expect(try last(of: [event], in: "missing") == nil)
        let socket = try DatagramSocket(at: state.folder.file("full"))
        // More events than fit into a socket that no process reads.
        let many = [ChainedEvent](repeating: event, count: 5_000)
        #expect(try last(of: many, in: "full") == event)
        withExtendedLifetime(socket) {}
    }

    private static let journal = "/lib/systemd/systemd-journald"

    /// Runs a shell script with separate folders for the journal.
    private static func runApart(
        _ script: String, _ arguments: [String] = [], environment: [String: String]? = nil
    ) throws -> ForeignProgram.Outcome {
        let folders = """
            set -e
            mount -t tmpfs none /run
            mount -t tmpfs none /var/log
            mkdir -p /run/systemd/journal /var/log/journal

            """
        return try ForeignProgram(path: "/usr/bin/unshare").run(
            ["--mount", "--propagation", "private", "sh", "-c", folders + script] + arguments,
            environment: environment)
    }

    /// Whether systemd's journal is installed, and this process may mount folders for it.
    private static let hasJournal: Bool = {
        guard FileManager.default.isExecutableFile(atPath: journal) else { return false }
        do { return try runApart("true").status == 0 } catch { return false }
    }()

    @Test(
        "systemd's journal has each event once",
        .enabled(if: hasJournal, "needs systemd, and root's permissions"))
    func journal() async throws {
        try await happen(2)
        context.close()
        let script = """
            \(Self.journal) & journal=$!
            trap 'kill $journal $follower 2>/dev/null || true' EXIT
            until [ -S /run/systemd/journal/socket ]; do kill -0 $journal; sleep 0.01; done
            "$0" audit follow "$1" --journal & follower=$!
            until journalctl -q -o json WATCHWORD_POSITION=2 2>/dev/null | grep -q .; do
                kill -0 $follower
                sleep 0.02
            done
            kill $follower
            wait $follower
            journalctl -q -o json MESSAGE_ID=0da2dc7add2e4729a9a44a19c6597b8f WATCHWORD_KIND=denied
            """
        let outcome = try await onOwnThread { [self] in
            try Self.runApart(
                script, [BuiltProgram.path("watchword-server"), record],
                environment: state.environment)
        }
        #expect(outcome.status == 0, "\(String(decoding: outcome.errors, as: UTF8.self))")
        let entries = try outcome.text.split(separator: "\n").map { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        }
        #expect(entries.map { $0?["WATCHWORD_POSITION"] as? String } == ["1", "2"])
        #expect(entries.first??["WATCHWORD_USER_AGENT"] as? String == "a\"b\\c\nMESSAGE=forged")
    }
}
