import PostgreSQLServer
import ServiceTranscripts
import TestSupport
import Testing

/// The kind of store that a server of these tests uses.
enum TestedStore: String, CaseIterable {
    case sqlite, postgreSQL

    static var installed: [TestedStore] {
        allCases.filter { $0 == .sqlite || PostgreSQLServer.isInstalled }
    }

    func state() async throws -> ServerProcess.State {
        switch self {
        case .sqlite: try ServerProcess.State()
        case .postgreSQL:
            try ServerProcess.State(
                store: await onOwnThread { try PostgreSQLServer.shared().makeDatabase() })
        }
    }
}

/// Device keys with the program `watchword-server`.
struct DeviceKeyTests {
    @Test(
        "K-15 of a hundred concurrent answers to one challenge, on two servers, one is accepted",
        .enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
    func race() async throws {
        let state = try await TestedStore.postgreSQL.state()
        let audience = ["--audience", SampleDeviceKey.audience]
        let servers = [
            try await ServerProcess(state, arguments: audience),
            try await ServerProcess(state, arguments: audience),
        ]
        let driver = PasskeyDriver(port: servers[0].port, key: try await state.makeKey())
        let key = try SampleDeviceKey("alice")
        let id = try await driver.register(key, for: "alice")
        let json = try PasskeyDriver.body(try await driver.challenge(id), key, of: id)
        let ports = servers.map(\.port)
        let answers = try await withThrowingTaskGroup(of: RawConnection.Answer?.self) { group in
            for index in 0..<100 {
                group.addTask {
                    try await Asker(ports[index % 2]).ask("POST", "/v1/device/signatures", json)
                }
            }
            return try await group.reduce(into: [RawConnection.Answer]()) {
                if let answer = $1 { $0.append(answer) }
            }
        }
        let accepted = answers.count { $0.texts["result"] == "accepted" }
        // After a 503, which a busy machine may cause, nothing is known about the outcome.
        #expect(accepted == 1 || accepted == 0 && answers.contains { $0.status == 503 })
        for server in servers { #expect(try await server.stop() == 0) }
    }

    @Test("a server without --audience refuses requests about device keys, and says why")
    func notConfigured() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let asker = try Asker(server.port, key: try await state.makeKey())
        let credential = #""credential":"cr_AAAAAAAAAAAAAAAAAAAAAA""#
        for (route, body) in [
            ("subjects/alice/credentials", #"{"type":"key"}"#),
            ("challenges", #"{\#(credential),"purpose":"confirm","text":"Pay"}"#),
            ("device/challenges", #"{\#(credential)}"#),
        ] {
            let answer = try await asker.ask("POST", "/v1/\(route)", body)
            #expect(answer?.status == 404)
            #expect(answer?.texts["option"] == "audience")
        }
        #expect(try await server.stop() == 0)
    }
}
