import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// Tests the proxy used by the other test suites, with PostgreSQL's own clients.
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"), .serialized)
struct FaultyProxyTests {
    /// A table into which a client inserts through a proxy, with pgbench's prepared statements.
    final class Fixture: Sendable {
        let server: PostgreSQLServer
        let url: String
        let proxy: FaultyProxy
        private let folder: TemporaryFolder

        private static let made = Result { try Fixture() }

        /// The shared fixture, with an empty table and no fault.
        static func fresh() throws -> Fixture {
            let fixture = try made.get()
            fixture.proxy.heal()
            try fixture.server.query("TRUNCATE word", in: fixture.url)
            return fixture
        }

        private init() throws {
            server = try PostgreSQLServer.shared()
            url = try server.makeDatabase()
            try server.query(
                "CREATE TABLE word (text text); GRANT ALL ON word TO watchword", in: url)
            proxy = try FaultyProxy(to: server.port)
            folder = try TemporaryFolder()
            try folder.write(Array("INSERT INTO word VALUES ('x');".utf8), to: "insert")
        }

        /// Inserts one row.
        ///
        /// Returns whether the client received the confirmation.
        func insert() throws -> Bool {
            let fixture = try #require(PostgreSQLServer.program("pgbench"))
            let words = [
                "--no-vacuum", "--protocol", "prepared", "--transactions", "1", "--file",
                folder.file("insert"),
                proxy.url(for: url),
            ]
            return try fixture.run(words, environment: ["PATH": "/usr/bin:/bin"]).status == 0
        }

        /// Inserts one row on a single connection, with a simple query.
        func insertAtOnce() throws -> ForeignProgram.Outcome {
            let psql = try #require(PostgreSQLServer.program("psql"))
            let words = [
                "--no-psqlrc", "--command", "INSERT INTO word VALUES ('x')", proxy.url(for: url),
            ]
            return try psql.run(words, environment: ["PATH": "/usr/bin:/bin"])
        }

        /// The number of rows, once no client is connected.
        func rows() throws -> Int? {
            try server.awaitNoClients(of: url)
            return Int(try server.query("SELECT count(*) FROM word", in: url))
        }
    }

    @Test("without a fault, the proxy forwards and counts everything")
    func through() async throws {
        try await onOwnThread {
            let fixture = try Fixture.fresh()
            fixture.proxy.arm(nil)
            #expect(try fixture.insert())
            #expect(try fixture.rows() == 1)
            #expect(fixture.proxy.passed(.toServer) > 100)
            #expect(fixture.proxy.passed(.toClient) > 100)
        }
    }

    @Test(
        "a fault cuts the connection before, within or after the specified message",
        arguments: ProxyFault.Message.allCases.filter { $0 != .query && $0 != .dataRow },
        ProxyFault.Part.allCases)
    func cut(message: ProxyFault.Message, part: ProxyFault.Part) async throws {
        try await onOwnThread {
            let fixture = try Fixture.fresh()
            // The first Sync and ReadyForQuery belong to the preparation of the statement.
            let count =
                switch message {
                case .sync: 2
                case .readyForQuery: 3
                default: 1
                }
            fixture.proxy.arm(ProxyFault(.cut, at: .message(message, count: count, part)))
            let isTold = try fixture.insert()
            #expect(!fixture.proxy.isArmed)
            // The server has executed the statement, whether or not its response arrived.
            let isDone =
                switch (message, part) {
                case (.sync, .all), (.commandComplete, _), (.readyForQuery, _): true
                case (.bindComplete, _): true
                default: false
                }
            #expect(try fixture.rows() == (isDone ? 1 : 0))
            #expect(isTold == (message == .readyForQuery && part == .all))
            // The next connection has no fault.
            #expect(try fixture.insert())
        }
    }

    @Test("after a cut at any byte from the client, the row exists only if the last byte arrived")
    func cutAtBytes() async throws {
        try await onOwnThread {
            let fixture = try Fixture.fresh()
            fixture.proxy.arm(nil)
            let whole = try fixture.insertAtOnce()
            #expect(whole.status == 0, "\(String(decoding: whole.errors, as: UTF8.self))")
            // The Terminate message, five bytes long, follows the confirmation.
            try fixture.server.awaitNoClients(of: fixture.url)
            let all = fixture.proxy.passed(.toServer) - 5
            var rows = 1
            for byte in Array(stride(from: 0, to: all, by: 5)) + [all, all + 1] {
                fixture.proxy.arm(ProxyFault(.cut, at: .byte(.toServer, byte)))
                var cut = try fixture.insertAtOnce()
                // A connection that failed before the fault proves nothing; the output of psql
                // contains the reason.
                for _ in 0..<10 where fixture.proxy.isArmed && cut.status != 0 {
                    Issue.record(
                        "\(byte): \(String(decoding: cut.errors, as: UTF8.self))",
                        severity: .warning)
                    cut = try fixture.insertAtOnce()
                }
                #expect((cut.status == 0) == (byte > all), "\(byte) of \(all)")
                // psql does not wait for the arrival of its last message.
                try fixture.proxy.awaitFault()
                if byte >= all { rows += 1 }
            }
            #expect(try fixture.rows() == rows)
        }
    }

    @Test("a stalled message arrives once the fault is cleared; a refused connection fails")
    func stalled() async throws {
        let fixture = try await onOwnThread { try Fixture.fresh() }
        for part in ProxyFault.Part.allCases {
            fixture.proxy.arm(ProxyFault(.stall, at: .message(.bind, part)))
            async let isTold = onOwnThread { try fixture.insert() }
            try await onOwnThread {
                try fixture.proxy.awaitFault()
                #expect(
                    try fixture.server.query("SELECT count(*) FROM word", in: fixture.url) == "0")
            }
            fixture.proxy.heal()
            #expect(try await isTold)
            try await onOwnThread {
                #expect(try fixture.rows() == 1)
                try fixture.server.query("DELETE FROM word", in: fixture.url)
            }
        }
        fixture.proxy.refuse()
        #expect(try await onOwnThread { try fixture.insert() } == false)
        fixture.proxy.heal()
        fixture.proxy.delay(by: .milliseconds(1))
        #expect(try await onOwnThread { try fixture.insert() })
        #expect(try await onOwnThread { try fixture.rows() } == 1)
    }
}
