import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// Servers of several machines on one PostgreSQL: their keys, and a database that was put back.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql-15 is missing"))
struct SharedDatabaseTests {
    /// A machine with a key file of its own.
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
        // As a careful copy does it: the file is there whole, or as it was.
        #expect(unsafe rename(to.folder.file("watchword/new"), to.keyFile) == 0)
    }

    private func makeDatabase() async throws -> (PostgreSQLServer, String) {
        try await offThePool {
            let server = try PostgreSQLServer.shared()
            return (server, try server.makeDatabase())
        }
    }

    @Test(
        "V-24 a machine that lacks a key answers 503 until it has it, and never takes a right code for wrong"
    )
    func missingKey() async throws {
        let (_, url) = try await makeDatabase()
        let first = try machine(url)
        let key = try await first.makeKey()
        let second = try machine(url, keysOf: first)
        let servers = [try await ServerProcess(first), try await ServerProcess(second)]
        let alice = try await EnrolledSubject("alice", Asker(servers[0].port, key: key))
        let elsewhere = try Asker(servers[1].port, key: key)
        // The key is made first, and used when it was said again.
        let staged = try await first.run("keys", "rotate")
        #expect(staged.text.hasPrefix("Key 2 is in \(first.keyFile), and nothing uses it yet."))
        let list = try await first.run("keys", "list").text
        #expect(list == "key 1  current  1 totp\nkey 2  staged  nothing hangs on it\n")
        #expect(try await first.run("keys", "rotate").text.hasPrefix("Key 2 is the current one"))
        let refused = try await elsewhere.verify("alice", alice.code())
        #expect(refused?.status == 503)
        #expect(refused?.texts["reason"] == nil)
        try copyKeys(of: first, to: second)
        let accepted = try await elsewhere.verify("alice", alice.code())
        #expect(accepted?.texts["result"] == "accepted")
        for server in servers { try await server.stop() }
    }

    @Test("V-24 two machines that each make a key do not use two by one number")
    func foreignKey() async throws {
        let (_, url) = try await makeDatabase()
        let first = try machine(url)
        let key = try await first.makeKey()
        let second = try machine(url, keysOf: first)
        let server = try await ServerProcess(second)
        let alice = try await EnrolledSubject("alice", Asker(server.port, key: key))
        let before = try second.folder.bytes(of: "watchword/keys")
        #expect(try await first.run("keys", "rotate").status == 0)
        let refused = try await second.run("keys", "rotate")
        #expect(refused.status == 3)
        #expect(String(decoding: refused.errors, as: UTF8.self).contains("another key 2"))
        #expect(try second.folder.bytes(of: "watchword/keys") == before)
        // A key file of a third machine's own making, as from a copy that went wrong.
        let third = try ServerProcess.State()
        try copyKeys(of: second, to: third)
        #expect(try await third.run("client", "add", "x", "--scope", "verify").status == 0)
        #expect(try await third.run("keys", "rotate").status == 0)
        let strange = try machine(url, keysOf: third)
        let start = try await strange.run("client", "list")
        #expect(start.status == 3)
        #expect(String(decoding: start.errors, as: UTF8.self).contains("another key 2"))
        // Under a server that runs already, it is not used either.
        try copyKeys(of: third, to: second)
        let answer = try await Asker(server.port, key: key).verify("alice", alice.code())
        #expect(answer?.texts["result"] == "accepted")
        let next = try await EnrolledSubject("bob", Asker(server.port, key: key))
        let list = try await first.run("keys", "list").text
        #expect(list.hasPrefix("key 1  current  2 totp"))
        #expect(next.name == "bob")
        try await server.stop()
    }

    @Test("a database that was put back is refused, also after a restart, until it is settled")
    func putBack() async throws {
        let (database, url) = try await makeDatabase()
        let state = try machine(url)
        let key = try await state.makeKey()
        let server = try await ServerProcess(state)
        let alice = try await EnrolledSubject("alice", Asker(server.port, key: key))
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
        // The spent code is good again in there, and not accepted.
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
        #expect(restored.text.hasPrefix("1 credentials go on, 0 ended"))
        let settled = try await ServerProcess(state)
        let refused = try await Asker(settled.port, key: key).verify("alice", code)
        #expect(refused?.texts["result"] == "denied")
        try await settled.stop()
        #expect(try await state.run("audit", "verify").status == 0)
    }

    @Test(
        "a password on the command line is refused and not repeated; in the environment it serves")
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
        // The database's owner is another role; the one that may log in belongs to it.
        let listed = try await state.run(
            "client", "add", "x", "--scope", "verify", "--store", named,
            environment: ["PGPASSFILE": passwords])
        #expect(listed.status == 0, "\(String(decoding: listed.errors, as: UTF8.self))")
    }

    @Test("a key file that is missing is not made anew over a database that has been used")
    func lostKeys() async throws {
        let (_, url) = try await makeDatabase()
        let state = try machine(url)
        _ = try await state.makeKey()
        let other = try machine(url)
        for verb in [["serve"], ["client", "list"], ["client", "add", "x", "--scope", "verify"]] {
            let outcome = try await offThePool {
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
