import Foundation
import OneTimePassword
import PostgreSQLServer
import TestSupport
import Testing
import WatchwordCryptography

/// Searches everything that a server leaves on the disk for seeds.
struct SeedStorageTests {
    /// The seed that the test imports; the server generates a second seed.
    private static let known = (0..<20).map { UInt8(truncatingIfNeeded: $0 &* 53 &+ 151) }

    /// Enrols both seeds, confirms and uses one, and returns the forms of both.
    private func use(_ server: ServerProcess) async throws -> [SecretForms] {
        let asker = try Asker(server.port, key: try await server.state.makeKey())
        let alice = try await EnrolledSubject("alice", asker)
        _ = try await asker.verify("alice", alice.code())
        _ = try await asker.verify("alice", alice.wrongCodes(1)[0])
        let made = try KeyURI(parsing: Array(alice.uri.utf8).span).credential.key.known
        let base32 = Base32.encode(SecretBytes(copying: Self.known.span)).text
        let imported = try await asker.ask(
            "POST", "/v1/subjects/bob/credentials",
            #"{"type":"totp","issuer":"Test","account":"bob","key":"\#(base32)"}"#)
        #expect(imported?.status == 201)
        let forms = [
            SecretForms("the generated seed", bytes: made),
            SecretForms("the imported seed", bytes: Self.known),
        ]
        // Control: the search finds both seeds in the responses that contain them.
        #expect(forms[0].isIn(Array(alice.uri.utf8)))
        #expect(forms[1].isIn(imported?.body ?? []))
        let limits = try String(contentsOfFile: "/proc/\(server.pid)/limits", encoding: .utf8)
        #expect(limits.contains(/Max core file size\s+0\s+0\s/))
        return forms
    }

    /// Searches files and texts.
    ///
    /// At least `count` of them must contain `alice` in plain text, which proves that they were
    /// searched.
    private func search(
        _ haystacks: [(name: String, bytes: [UInt8])], for forms: [SecretForms], telling count: Int
    ) {
        for (name, bytes) in haystacks {
            for form in forms { #expect(!form.isIn(bytes), "\(form.name) in \(name)") }
        }
        let telling = haystacks.filter { Data($0.bytes).range(of: Data("alice".utf8)) != nil }
        #expect(telling.count >= count, "\(telling.map(\.name)) of \(haystacks.map(\.name))")
    }

    /// All files below `path`.
    private func files(below path: String) throws -> [(name: String, bytes: [UInt8])] {
        let found = FileManager.default.enumerator(atPath: path)
        var files: [(name: String, bytes: [UInt8])] = []
        while let name = found?.nextObject() as? String {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            let data = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
            files.append((name, [UInt8](data)))
        }
        return files
    }

    @Test(
        "H-15 T-07 SQLite's files, a backup, the log and the metrics contain no seed; no core file is left"
    )
    func sqlite() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let forms = try await use(server)
        let copy = state.folder.file("copy.db")
        #expect(try await state.run("backup", copy).status == 0)
        let metrics = try await Asker(server.operationsPort).ask("GET", "/metrics")
        // Search while the server runs, because of the write-ahead log, and again after it has
        // stopped.
        var haystacks = try files(below: state.folder.path)
        haystacks.append(("metrics", metrics?.body ?? []))
        try await server.stop()
        haystacks += try files(below: state.folder.path)
        #expect(haystacks.contains { $0.name.hasSuffix("watchword.db-wal") })
        #expect(haystacks.contains { $0.name.hasPrefix("log-") })
        search(haystacks, for: forms, telling: 3)
    }

    @Test(
        "H-15 T-07 PostgreSQL's files, a dump and both logs contain no seed; no core file is left",
        .enabled(if: PostgreSQLServer.isInstalled, "postgresql is missing"))
    func postgreSQL() async throws {
        // Use a separate PostgreSQL server, because all of its files are searched, including its
        // write-ahead log.
        let database = try await onOwnThread { try PostgreSQLServer.start() }
        let url = try await onOwnThread { try database.makeDatabase() }
        let state = try ServerProcess.State(store: url)
        let server = try await ServerProcess(state)
        let forms = try await use(server)
        _ = try await onOwnThread { try database.query("CHECKPOINT") }
        let dump = try #require(PostgreSQLServer.program("pg_dump"))
        let dumped = try await onOwnThread { try dump.run(["--dbname", url]) }
        #expect(dumped.status == 0)
        try await server.stop()
        try await onOwnThread { try database.stop() }
        var haystacks = try files(below: database.folder)
        haystacks += try files(below: state.folder.path)
        haystacks.append(("dump", dumped.output))
        #expect(haystacks.contains { $0.name.hasPrefix("log-") })
        // The table, the write-ahead log and the dump.
        search(haystacks, for: forms, telling: 3)
    }
}
