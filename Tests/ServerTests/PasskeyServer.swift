import Foundation
import HTTPListener
import JSONReading
import PostgreSQLServer
import PostgreSQLStore
import SQLiteStore
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography

/// A listener in this process, in front of a database, with a clock that the test controls.
final class PasskeyServer: Sendable {
    /// The kind of database.
    enum Database: String, CaseIterable, CustomTestStringConvertible {
        case sqlite = "SQLite"
        case postgreSQL = "PostgreSQL"

        var testDescription: String { rawValue }

        /// The kinds that can be tested on this machine.
        static var possible: [Database] {
            PostgreSQLServer.isInstalled ? allCases : [.sqlite]
        }
    }

    let fixture: ServiceFixture
    private let listener: Listener
    private let folder: TemporaryFolder
    /// The PostgreSQL database; `nil` for a file.
    private let url: String?

    init(
        _ database: Database, passkeys: PasskeySettings? = nil, tpmRoots: TrustAnchors? = nil,
        randomness: RandomSource = .system
    ) async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let url = try await onOwnThread {
            database == .sqlite ? nil : try PostgreSQLServer.shared().makeDatabase()
        }
        self.url = url
        let address = try url.map { try #require(PostgreSQLAddress($0)) }
        fixture = try await ServiceFixture(
            passkeys: passkeys, tpmRoots: tpmRoots, randomness: randomness
        ) { _, keys in
            guard let address else {
                return try SQLiteVerificationStore(opening: folder.file("db"), key: keys.auditKey)
            }
            return try PostgreSQLVerificationStore(
                connecting: address, key: keys.auditKey, connections: .init(timeout: .seconds(20)))
        }
        listener = try Listener.start(
            on: ListenAddress(loopbackPort: 0), refuser: fixture.service.refuse,
            handler: fixture.service.respond)
    }

    var port: UInt16 { listener.address.port }

    /// Sends requests over HTTP, each over its own connection, with an API key that has all scopes.
    var driver: PasskeyDriver {
        PasskeyDriver(port: port, key: fixture.keys["all"]?.text ?? "")
    }

    /// Sends a request without a body.
    func ask(_ method: String, _ target: String) async throws -> PasskeyDriver.Reply {
        try await .asking(method, target, port: port, key: fixture.keys["all"]?.text)
    }

    /// Reads the body of a credential's row, and its authentication, as an attacker who can write
    /// to the database but has no key.
    func row(_ credential: String) async throws -> (body: [UInt8], authentication: [UInt8]) {
        try #require(
            try await rows("credentials", where: "id = \(try literal(credential))").first)
    }

    /// Reads the same columns of these rows, in the order of their bodies.
    func rows(
        _ table: String, where condition: String = "true"
    ) async throws -> [(body: [UInt8], authentication: [UInt8])] {
        let text = try await query(
            sqlite: "SELECT group_concat(row, ',') FROM (SELECT hex(body) || ' ' || "
                + "hex(authentication) AS row FROM \(table) WHERE \(condition) ORDER BY body)",
            postgreSQL: "SELECT string_agg(encode(body, 'hex') || ' ' || "
                + "encode(authentication, 'hex'), ',' ORDER BY body) "
                + "FROM watchword.\(table) WHERE \(condition)")
        return try text.split(separator: ",").map { row in
            let columns = try row.split(separator: " ").map { try Hex.bytes(String($0)) }
            return (try #require(columns.first), try #require(columns.last))
        }
    }

    func write(_ row: (body: [UInt8], authentication: [UInt8]), to credential: String) async throws
    {
        try await write(row, "credentials", where: "id = \(try literal(credential))")
    }

    /// Writes these columns of all rows of a table, or of some.
    func write(
        _ row: (body: [UInt8], authentication: [UInt8]), _ table: String,
        where condition: String = "true"
    ) async throws {
        try await change(
            "\(table) SET body = \(literal(row.body)), "
                + "authentication = \(literal(row.authentication)) WHERE \(condition)")
    }

    /// Changes a table, as an attacker who can write to the database but has no key.
    func change(_ update: String) async throws {
        _ = try await query(
            sqlite: "UPDATE \(update)", postgreSQL: "UPDATE watchword.\(update)")
    }

    /// Removes all credentials from the database, so that their ids can be registered again.
    func removeCredentials() async throws {
        _ = try await query(
            sqlite: "DELETE FROM credentials", postgreSQL: "DELETE FROM watchword.credentials")
    }

    /// Copies all open challenges.
    func copyChallenges() async throws {
        let copy = "CREATE TABLE copied AS SELECT * FROM "
        _ = try await query(
            sqlite: copy + "challenges", postgreSQL: copy + "watchword.challenges")
    }

    /// Puts back the challenges that were spent since they were copied.
    func putBackChallenges() async throws {
        func insert(into table: String) -> String {
            "INSERT INTO \(table) SELECT * FROM copied "
                + "WHERE digest NOT IN (SELECT digest FROM \(table))"
        }
        _ = try await query(
            sqlite: insert(into: "challenges"),
            postgreSQL: insert(into: "watchword.challenges"))
    }

    private func query(sqlite: String, postgreSQL: String) async throws -> String {
        try await onOwnThread { [self] in
            guard let url else { return try edit(sqlite) }
            return try PostgreSQLServer.shared().query(postgreSQL, in: url)
        }
    }

    /// Runs a statement on the file; returns the only value of its result.
    private func edit(_ statement: String) throws -> String {
        let program = [
            "import sqlite3, sys",
            "base = sqlite3.connect(sys.argv[1], isolation_level=None)",
            "found = base.execute(sys.argv[2]).fetchone()",
            "print(found[0] if found and found[0] else '')",
        ].joined(separator: "\n")
        let outcome = try ForeignProgram(path: "/usr/bin/python3")
            .run(["-c", program, folder.file("db"), statement])
        #expect(outcome.status == 0)
        return outcome.text.trimmingCharacters(in: .newlines)
    }

    /// A credential's id as an SQL literal.
    private func literal(_ credential: String) throws -> String {
        let id = Array(credential.utf8.dropFirst(3))
        return literal(try Base64URL.decode(id.span))
    }

    private func literal(_ bytes: [UInt8]) -> String {
        let digits = Hex.text(bytes)
        return url == nil ? "x'\(digits)'" : "'\\x\(digits)'"
    }

    func stop() async { #expect(await listener.stop(grace: .seconds(60))) }
}

extension PasskeyDriver {
    /// Sends requests over HTTP, each over its own connection.
    init(port: UInt16, key: String) {
        self.init { sender, target, body in
            let isPage = sender == .page
            return try await .asking(
                "POST", target, body, port: port, key: isPage ? nil : key,
                headers: isPage ? "Origin: https://mill.example\r\n" : "")
        }
    }
}

extension PasskeyDriver.Reply {
    /// Sends a request over its own connection.
    static func asking(
        _ method: String, _ target: String, _ body: String? = nil, port: UInt16, key: String?,
        headers: String = ""
    ) async throws -> PasskeyDriver.Reply {
        let connection = try RawConnection(port: port)
        try await connection.send(
            Asker.message(method, target, body, key: key, headers: headers))
        let answer = try #require(try await connection.answer())
        return PasskeyDriver.Reply(
            status: answer.status,
            json: answer.body.isEmpty
                ? nil
                : try readJSON(answer.body.span, limits: JSONLimits(bytes: 1 << 20, depth: 16)))
    }
}
