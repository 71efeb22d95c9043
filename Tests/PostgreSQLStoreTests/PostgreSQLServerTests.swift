import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// Tests that the server used by the other test suites fails and recovers on request.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
struct PostgreSQLServerTests {
    @Test("a new database is empty, has the right owner, uses UTF-8 and flushes commits to disk")
    func database() async throws {
        try await onOwnThread {
            let server = try PostgreSQLServer.shared()
            let url = try server.makeDatabase()
            try server.query("CREATE TABLE word (text text)", in: url)
            let facts = """
                SELECT current_setting('fsync'), current_setting('synchronous_commit'),
                    pg_encoding_to_char(encoding), datcollate, pg_get_userbyid(datdba)
                FROM pg_database WHERE datname = current_database()
                """
            #expect(try server.query(facts, in: url) == "on|on|UTF8|C|watchword")
            #expect(throws: PostgreSQLServerError.self) {
                try server.query("SELECT text FROM word", in: try server.makeDatabase())
            }
        }
    }

    @Test("a server can be killed or stopped; after a restart it has all committed rows")
    func killed() async throws {
        try await onOwnThread {
            let server = try PostgreSQLServer.start()
            let url = try server.makeDatabase()
            try server.query("CREATE TABLE word (text text)", in: url)
            for (round, end) in [server.kill9, server.stop].enumerated() {
                try server.query("INSERT INTO word VALUES ('kept')", in: url)
                try end()
                #expect(!server.isRunning)
                #expect(throws: PostgreSQLServerError.self) { try server.query("SELECT 1") }
                try server.restart()
                #expect(server.isRunning)
                #expect(try server.query("SELECT count(*) FROM word", in: url) == "\(round + 1)")
            }
        }
    }

    @Test("a role with a password can log in only with that password")
    func password() async throws {
        try await onOwnThread {
            let server = try PostgreSQLServer.shared()
            let url = "\(server.url("postgres", user: "guarded"))"
            let psql = try #require(ForeignProgram("psql"))
            let ask = ["--no-psqlrc", "--no-password", "-At", "-c", "SELECT current_user", url]
            for (word, answer) in [(PostgreSQLServer.password, "guarded\n"), ("another", "")] {
                let outcome = try psql.run(
                    ask, environment: ["PATH": "/usr/bin:/bin", "PGPASSWORD": word])
                #expect(outcome.text == answer)
            }
        }
    }

    @Test("a promoted synchronous standby has all committed rows")
    func synchronous() async throws {
        try await onOwnThread {
            let primary = try PostgreSQLServer.start()
            let url = try primary.makeDatabase()
            try primary.query("CREATE TABLE word (text text)", in: url)
            let standby = try primary.addStandby(isSynchronous: true)
            try primary.query("INSERT INTO word VALUES ('kept')", in: url)
            #expect(try standby.query("SELECT pg_is_in_recovery()") == "t")
            try primary.kill9()
            try standby.promote()
            try standby.query("INSERT INTO word VALUES ('more')", in: url)
            #expect(
                try standby.query("SELECT text FROM word ORDER BY text", in: url) == "kept\nmore")
        }
    }

    @Test("a promoted asynchronous standby lacks the rows that were held back")
    func asynchronous() async throws {
        try await onOwnThread {
            let primary = try PostgreSQLServer.start()
            let url = try primary.makeDatabase()
            let standby = try primary.addStandby(isSynchronous: false)
            try primary.query("CREATE TABLE word (text text)", in: url)
            let end = try primary.query("SELECT pg_current_wal_lsn()")
            try standby.awaitReplay(of: end)
            try primary.withholdReplication()
            try primary.query("INSERT INTO word VALUES ('lost')", in: url)
            try primary.kill9()
            try standby.promote()
            #expect(try standby.query("SELECT count(*) FROM word", in: url) == "0")
        }
    }

    @Test("a server stops when its last reference is released, and leaves no files behind")
    func ends() async throws {
        try await onOwnThread {
            var server: PostgreSQLServer? = try PostgreSQLServer.start()
            let folder = try #require(server?.folder)
            let data = "\(folder)/data/postmaster.pid"
            #expect(FileManager.default.fileExists(atPath: data))
            server = nil
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }
}
