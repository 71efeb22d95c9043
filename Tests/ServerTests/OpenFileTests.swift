import Foundation
import TestSupport
import Testing

/// A server that the system lets open few files: each connection is one.
struct OpenFileTests {
    @Test("the server asks for all files that it may have, and says when they are few")
    func few() async throws {
        let server = try await ServerProcess(
            ServerProcess.State(), under: "ulimit -Sn 300; ulimit -Hn 600;")
        try await server.stop()
        let log = try server.logged()
        #expect(log.contains("\"connections\":\"344\""), "\(log)")
        #expect(log.contains("\"event\":\"few-connections\""), "\(log)")
        #expect(log.contains("open 600 files"), "\(log)")
    }

    @Test("where there is no room for a service, there is none, and the reason is said")
    func tooFew() async throws {
        let state = try ServerProcess.State()
        let failure = await #expect(throws: ServerProcess.Failure.self) {
            _ = try await ServerProcess(state, under: "ulimit -n 319;")
        }
        guard case .notListening(let words) = failure else { return }
        #expect(words.contains("open 319 files"), "\(words)")
        #expect(words.contains("needs 320 at least"), "\(words)")
        #expect(!FileManager.default.fileExists(atPath: state.database))
    }

    @Test("with every connection taken the database goes on, and the next client waits")
    func allTaken() async throws {
        let state = try ServerProcess.State()
        let key = try await state.makeKey()
        let server = try await ServerProcess(state, under: "ulimit -n 320;")
        let asker = try Asker(server.port, key: key)
        let subject = try await EnrolledSubject("alice", asker)
        var idle = try (1..<64).map { _ in try RawConnection(port: server.port) }
        let late = try Asker(server.port, key: key)
        let message = Asker.message("GET", "/v1/events?after=0", nil, key: key)
        try await late.connection.send(message)
        #expect(try await asker.verify("alice", subject.code())?.texts["result"] == "accepted")
        idle.removeAll()
        #expect(try await late.connection.answer()?.status == 200)
        #expect(try await server.stop() == 0)
        #expect(try !server.logged().contains("failed"))
    }
}
