import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// Servers on several machines that share one PostgreSQL database: their keys, and a database that
/// was replaced by an older state.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct SharedDatabaseTests {
    /// A machine with its own key file.
    private func machine(_ url: String, keysOf other: ServerProcess.State? = nil) throws
        -> ServerProcess.State
    {
        let state = try ServerProcess.State(store: url)
        if let other { try copyKeys(of: other, to: state) }
        return state
    }

    private func copyKeys(of from: ServerProcess.State, to: ServerProcess.State) throws {
        let folder = to.folder.file("watchword")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try to.folder.write(try from.folder.bytes(of: "watchword/keys"), to: "watchword/new")
        try setMode(0o600, of: to.folder.file("watchword/new"))
        // Copy atomically: either the old or the new file exists at all times.
        #expect(unsafe rename(to.folder.file("watchword/new"), to.keyFile) == 0)
    }

    private func makeDatabase() async throws -> (PostgreSQLServer, String) {
        try await onOwnThread {
            let server = try PostgreSQLServer.shared()
            return (server, try server.makeDatabase())
        }
    }

    @Test(
        "T-01 a server whose clock jumps answers 503 and says why, until the clock is right again",
        .enabled(if: ForeignProgram("faketime") != nil, "faketime is missing"))
    func jumpingClock() async throws {
        let (_, url) = try await makeDatabase()
        let state = try machine(url)
        let asker = try await state.makeKey()
        func setClock(_ shift: String) throws {
            try Data(shift.utf8).write(
                to: URL(filePath: state.folder.file("clock")), options: .atomic)
        }
        try setClock("+0")
        let server = try await ServerProcess(
            state,
            environment: [
                "LD_PRELOAD": "/usr/$LIB/faketime/libfaketimeMT.so.1",
                "FAKETIME_TIMESTAMP_FILE": state.folder.file("clock"), "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            ])
        let operations = try Asker(server.operationsPort)
        #expect(try await operations.ask("GET", "/readyz")?.status == 200)
        for shift in ["+3600", "-3600"] {
            try setClock(shift)
            // A concurrent read may be comparing the clocks. This ends a test that would otherwise
            // hang.
            let end = ContinuousClock.now + .seconds(60)
            var reply = try await operations.ask("GET", "/readyz")
            while reply?.status == 200, .now < end {
                reply = try await operations.ask("GET", "/readyz")
            }
            #expect(reply?.status == 503 && reply?.text.contains("clock-differs") == true)
            let refused = try await Asker(server.port, key: asker).verify("alice", "123456")
            #expect(refused?.status == 503 && refused?.headers["retry-after"] != nil)
            try setClock("+0")
            try await server.awaitReady()
        }
        #expect(try await server.stop() == 0)
        let causes = try server.logged().split(separator: "\n").compactMap { line in
            let facts = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard facts?["event"] as? String == "not-ready" else { return nil as [String]? }
            return ["cause", "advice"].map { facts?[$0] as? String ?? "" }
        }
        // A jump can also end an attempt to reach the database.
        let others = causes.filter { $0[0] != "clock-differs" }
        #expect(others.allSatisfy { $0[0] == "store-unavailable connection" })
        #expect(causes.count - others.count >= 2)
        for line in causes where line[0] == "clock-differs" {
            #expect(line[1].contains("synchronise both"))
        }
    }

    @Test(
        "V-24 a machine answers 503 while it lacks a key, and never denies a correct code"
    )
    func missingKey() async throws {
        let (_, url) = try await makeDatabase()
        let first = try machine(url)
        let key = try await first.makeKey()
        let second = try machine(url, keysOf: first)
        let servers = [try await ServerProcess(first), try await ServerProcess(second)]
        let alice = try await EnrolledSubject(
            "alice", Asker(servers[0].port, key: key), period: 120)
        let elsewhere = try Asker(servers[1].port, key: key)
        // The first call adds the key; the second one starts to use it.
        let staged = try await first.run("keys", "rotate")
        #expect(staged.text.hasPrefix("Key 2 was added to \(first.keyFile), but is not used yet."))
        let list = try await first.run("keys", "list").text
        #expect(list == "key 1  current  1 totp\nkey 2  staged  unused\n")
        #expect(try await first.run("keys", "rotate").text.hasPrefix("Key 2 is now current."))
        let refused = try await elsewhere.verify("alice", alice.code())
        #expect(refused?.status == 503)
        #expect(refused?.texts["reason"] == nil)
        try copyKeys(of: first, to: second)
        let accepted = try await elsewhere.verify("alice", alice.code())
        #expect(accepted?.texts["result"] == "accepted")
        for server in servers { try await server.stop() }
    }

    @Test("V-24 two machines that each create a key do not use two keys under one number")
    func foreignKey() async throws {
        let (_, url) = try await makeDatabase()
        let first = try machine(url)
        let key = try await first.makeKey()
        let second = try machine(url, keysOf: first)
        let server = try await ServerProcess(second)
        let alice = try await EnrolledSubject(
            "alice", Asker(server.port, key: key), period: 120)
        let before = try second.folder.bytes(of: "watchword/keys")
        #expect(try await first.run("keys", "rotate").status == 0)
        let refused = try await second.run("keys", "rotate")
        #expect(refused.status == 3)
        #expect(String(decoding: refused.errors, as: UTF8.self).contains("a different key 2"))
        #expect(try second.folder.bytes(of: "watchword/keys") == before)
        // A third machine has a different key file, as after a failed copy.
        let third = try ServerProcess.State()
        try copyKeys(of: second, to: third)
        #expect(try await third.run("client", "add", "x", "--scope", "verify").status == 0)
        #expect(try await third.run("keys", "rotate").status == 0)
        let strange = try machine(url, keysOf: third)
        let start = try await strange.run("client", "list")
        #expect(start.status == 3)
        #expect(String(decoding: start.errors, as: UTF8.self).contains("a different key 2"))
        // A running server does not use such a key, either.
        try copyKeys(of: third, to: second)
        let answer = try await Asker(server.port, key: key).verify("alice", alice.code())
        #expect(answer?.texts["result"] == "accepted")
        let next = try await EnrolledSubject("bob", Asker(server.port, key: key))
        let list = try await first.run("keys", "list").text
        #expect(list.hasPrefix("key 1  current  2 totp"))
        #expect(next.name == "bob")
        try await server.stop()
    }

    @Test(
        "a database replaced by an older state is refused, even after a restart, until restore runs"
    )
    func rolledBack() async throws {
        let (database, url) = try await makeDatabase()
        let state = try machine(url)
        let key = try await state.makeKey()
        let server = try await ServerProcess(state)
        let alice = try await EnrolledSubject(
            "alice", Asker(server.port, key: key), period: 120)
        let tables = ["credentials", "events", "chains", "counter", "clients", "answers"]
        for table in tables {
            try database.query("CREATE TABLE kept_\(table) AS TABLE watchword.\(table)", in: url)
        }
        let code = alice.code()
        let accepted = try await Asker(server.port, key: key).verify("alice", code)
        #expect(accepted?.texts["result"] == "accepted")
        for table in tables {
            let values = table == "chains" ? "OVERRIDING SYSTEM VALUE" : ""
            try database.query(
                "DELETE FROM watchword.\(table); "
                    + "INSERT INTO watchword.\(table) \(values) TABLE kept_\(table)", in: url)
        }
        // In that state the spent code would be valid again, but it is not accepted.
        let again = try await Asker(server.port, key: key).verify("alice", code)
        #expect(again?.status == 503)
        #expect(again?.texts["result"] == nil)
        try await server.stop()
        let restarted = try await state.run("serve")
        #expect(restarted.status == 3)
        let words = String(decoding: restarted.errors, as: UTF8.self)
        #expect(words.contains("lacks events"))
        #expect(words.contains("watchword-server restore"))
        let restored = try await state.run("restore", "--clock-is-right", "--keep-clients")
        #expect(restored.text.hasPrefix("Credentials kept: 1. Ended, to be enrolled again: 0."))
        let settled = try await ServerProcess(state)
        let refused = try await Asker(settled.port, key: key).verify("alice", code)
        #expect(refused?.texts["result"] == "denied")
        try await settled.stop()
        #expect(try await state.run("audit", "verify").status == 0)
    }

    @Test(
        "a password on the command line is refused and not echoed; one in a file is accepted"
    )
    func password() async throws {
        let (_, url) = try await makeDatabase()
        let guarded = url.replacing("watchword@", with: "guarded:hunter2@")
        let state = try ServerProcess.State()
        let refused = try await state.run("client", "list", "--store", guarded)
        #expect(refused.status == 2)
        let words = String(decoding: refused.errors, as: UTF8.self)
        #expect(words.contains("WATCHWORD_STORE"))
        #expect(!words.contains("hunter2"))
        let passwords = try state.folder.write(
            Array("127.0.0.1:*:*:guarded:\(PostgreSQLServer.password)\n".utf8), to: "pgpass")
        try setMode(0o600, of: passwords)
        let named = url.replacing("watchword@", with: "guarded@")
        // A separate role owns the database, and the role for logins is a member of that role.
        let listed = try await state.run(
            "client", "add", "x", "--scope", "verify", "--store", named,
            environment: ["PGPASSFILE": passwords])
        #expect(listed.status == 0, "\(String(decoding: listed.errors, as: UTF8.self))")
    }

    @Test("a missing key file is not replaced if the database has been used")
    func lostKeys() async throws {
        let (_, url) = try await makeDatabase()
        let state = try machine(url)
        _ = try await state.makeKey()
        let other = try machine(url)
        for verb in [["serve"], ["client", "list"], ["client", "add", "x", "--scope", "verify"]] {
            let outcome = try await onOwnThread {
                try ForeignProgram(path: BuiltProgram.path("watchword-server"))
                    .run(verb, environment: other.environment)
            }
            #expect(outcome.status == 3)
            #expect(String(decoding: outcome.errors, as: UTF8.self).contains("put it back"))
        }
        #expect(try await state.run("backup", "/tmp/nothing").status == 2)
        #expect(try await state.run("restore", "/tmp/nothing").status == 2)
    }
}
