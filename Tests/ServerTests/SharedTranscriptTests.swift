import Foundation
import PostgreSQLServer
import PostgreSQLStore
import ServiceTranscripts
import StoreContract
import TestSupport
import Testing
import Verification
import WatchwordCryptography

/// The transcripts, with the requests answered in turn by several processes that share a database.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct SharedTranscriptTests {
    @Test(
        "processes that share a PostgreSQL database answer as the transcript specifies",
        arguments: try HTTPTranscript.all(), [2, 4])
    func shared(name: String, count: Int) async throws {
        let url = try await onOwnThread { try PostgreSQLServer.shared().makeDatabase() }
        let folder = try TemporaryFolder()
        let clock = TestClock()
        let path = folder.file("clock")
        try write(clock.now, to: path)
        let processes = try await withThrowingTaskGroup(of: ServingProcess.self) { group in
            for _ in 0..<count {
                group.addTask { try await onOwnThread { try ServingProcess(url, clock: path) } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let keys = try await makeKeys(url, clock)
        var turn = 0
        try await HTTPTranscript(named: name).run(keys: keys, clock: clock) { request in
            try write(clock.now, to: path)
            turn += 1
            let connection = try RawConnection(port: processes[turn % count].port)
            try await connection.send(TranscriptTests.message(request))
            return try TranscriptTests.response(
                try await connection.receiveToEnd(), to: request)
        }
        #expect(turn > 2)
        for process in processes { try await onOwnThread { try process.stop() } }
    }

    private func write(_ time: UnixTime, to path: String) throws {
        try Data("\(time.milliseconds)".utf8).write(to: URL(filePath: path), options: .atomic)
    }

    private func makeKeys(_ url: String, _ clock: TestClock) async throws
        -> [String: SecretBytes]
    {
        let ring = StoreKeys.known
        let store = try PostgreSQLVerificationStore(
            connecting: try #require(PostgreSQLAddress(url)), key: ring.auditKey,
            connections: .init(timeout: .seconds(20)))
        defer { store.close() }
        return try await ServiceFixture.makeKeys(
            Verifier(store: store, keys: ring, clock: { clock.now }))
    }
}

/// The program `service-process`.
final class ServingProcess: Sendable {
    let port: UInt16
    private let process: Process
    private let input: Pipe

    /// Starts the program and waits for its port.
    init(_ url: String, clock: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: BuiltProgram.path("service-process"))
        process.arguments = [url, clock]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        self.process = process
        self.input = input
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        port = try #require(UInt16(line.trimmingCharacters(in: .newlines)))
    }

    deinit {
        // A failed test leaves the process running.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Ends the process and checks its status.
    func stop() throws {
        // Closing the pipe is not enough, because other child processes may have inherited it.
        try input.fileHandleForWriting.write(contentsOf: Data("stop\n".utf8))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
