import Foundation
import TestSupport
import Testing

/// A server with a low limit on open files; each connection needs one.
struct OpenFileTests {
    @Test("the server raises its limit on open files, and logs a shortage")
    func few() async throws {
        let server = try await ServerProcess(
            ServerProcess.State(), under: "ulimit -Sn 300; ulimit -Hn 600;")
        try await server.stop()
        let log = try server.logged()
        #expect(log.contains("\"connections\":\"344\""), "\(log)")
        #expect(log.contains("\"event\":\"few-connections\""), "\(log)")
        #expect(log.contains("open files is 600"), "\(log)")
    }

    @Test("the server does not start if the limit on open files is too low, and reports why")
    func tooFew() async throws {
        let state = try ServerProcess.State()
        let failure = await #expect(throws: ServerProcess.Failure.self) {
            _ = try await ServerProcess(state, under: "ulimit -n 319;")
        }
        guard case .notListening(let words) = failure else { return }
        #expect(words.contains("open files is 319"), "\(words)")
        #expect(words.contains("at least 320"), "\(words)")
        #expect(!FileManager.default.fileExists(atPath: state.database))
    }

    @Test("the database stays usable with all connections in use, and the next client is served")
    func allTaken() async throws {
        let state = try ServerProcess.State()
        let key = try await state.makeKey()
        let server = try await ServerProcess(state, under: "ulimit -n 320;")
        let asker = try Asker(server.port, key: key, keepsConnection: true)
        let subject = try await EnrolledSubject("alice", asker)
        let idle = try (1..<64).map { _ in try RawConnection(port: server.port) }
        let late = try RawConnection(port: server.port)
        let message = Asker.message("GET", "/v1/events?after=0", nil, key: key)
        try await late.send(message)
        #expect(try await late.answer()?.status == 200)
        #expect(try await asker.verify("alice", subject.code())?.texts["result"] == "accepted")
        withExtendedLifetime(idle) {}
        #expect(try await server.stop() == 0)
        #expect(try !server.logged().contains("failed"))
    }
}
