import Foundation
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

/// `watchword-server import`, with a running server.
struct ImportTests {
    private static let key = SecretBytes(text: "12345678901234567890")
    private static let hex = "3132333435363738393031323334353637383930"
    private static let otherKey = SecretBytes(text: "09876543210987654321")
    private static let otherHex = "3039383736353433323130393837363534333231"

    private static func code(_ factor: UInt64, _ key: SecretBytes = key) throws -> String {
        CodeGenerator.code(at: factor, key: key, algorithm: .sha1, style: .decimal(.six)).text
    }

    /// A server with an API key, and the files to import.
    private struct Migration {
        let state: ServerProcess.State
        let server: ServerProcess
        let asker: Asker

        init() async throws {
            state = try ServerProcess.State()
            server = try await ServerProcess(state)
            asker = try Asker(server.port, key: try await state.makeKey())
        }

        /// Imports a file with this content.
        func run(_ content: String, _ arguments: String...) async throws -> (Int32, String) {
            let path = try state.folder.write(Array(content.utf8), to: "import")
            let outcome = try await onOwnThread { [state] in
                try ForeignProgram(path: BuiltProgram.path("watchword-server"))
                    .run(["import", path] + arguments, environment: state.environment)
            }
            let words = outcome.text + String(decoding: outcome.errors, as: UTF8.self)
            return (outcome.status, words.replacing(path, with: "FILE"))
        }

        func result(_ subject: String, _ code: String) async throws -> String? {
            let texts = try await asker.verify(subject, code)?.texts
            return texts?["reason"] ?? texts?["result"]
        }

        func events() async throws -> String {
            try await asker.ask("GET", "/v1/events?limit=1000")?.text ?? ""
        }
    }

    @Test("T-10 the users of an OATH users file keep their devices, and no code is accepted twice")
    func usersFile() async throws {
        let migration = try await Migration()
        let step = UInt64(Date().timeIntervalSince1970 / 30)
        let used = Date(timeIntervalSince1970: Double(step * 30)).formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: false))
        let file = """
            # comment
            HOTP\tann\t-\t\(Self.hex)\t3\t\(try Self.code(3))\t2026-11-22T22:22:16L
            HOTP/T30/6\tbob\t1234\t\(Self.otherHex)\t0\t\(try Self.code(step, Self.otherKey))\t\(used)L
            HOTP/T30/6 eve - \(Self.otherHex)
            HOTP joe - 00
            HOTP/X kim - 00

            """
        let report = """
            row 1: ann: imported
            row 2: bob: imported
            row 3: eve: refused: a different credential has or had this key; enrol the user again
            row 4: joe: refused: its key has fewer than 128 bits; --allow-short-keys accepts 80 bits or more
            row 5: refused: it is not a TOTP or HOTP key that the server can verify
            FILE: OATH users file: 2 imported, 0 already present, 3 refused

            """
        let before = try await migration.events()
        let rehearsed = try await migration.run(file, "--dry-run")
        #expect(
            rehearsed == (1, report.dropLast() + "; dry run, nothing was changed\n"))
        #expect(try await migration.events() == before)
        #expect(try await migration.run(file) == (1, report))
        #expect(try await migration.result("ann", Self.code(3)) == "replayed")
        #expect(try await migration.result("ann", Self.code(4)) == "accepted")
        #expect(try await migration.result("bob", Self.code(step, Self.otherKey)) == "replayed")
        #expect(try await migration.result("bob", Self.code(step + 1, Self.otherKey)) == "accepted")
        // A second import changes nothing.
        let after = try await migration.events()
        #expect(
            try await migration.run(file)
                == (
                    1,
                    report.replacing(": imported", with: ": already present")
                        .replacing("2 imported, 0", with: "0 imported, 2")
                ))
        #expect(try await migration.events() == after)
        #expect(try await migration.result("ann", Self.code(4)) == "replayed")
        #expect(!after.contains(Self.hex) && after.contains(#""kind":"imported""#))
        #expect(try await migration.state.run("audit", "verify").status == 0)
        try await migration.server.stop()
    }

    @Test("H-01 a short key of google-authenticator's PAM module needs --allow-short-keys")
    func pamFile() async throws {
        let migration = try await Migration()
        let step = UInt64(Date().timeIntervalSince1970 / 30)
        let file = """
            MFRGGZDFMZTWQ2LK
            " RATE_LIMIT 3 30
            " WINDOW_SIZE 17
            " DISALLOW_REUSE \(step - 1) \(step)
            " TOTP_AUTH
            12345678
            23456789

            """
        #expect(
            try await migration.run(file)
                == (
                    2,
                    "watchword-server: FILE: the file does not name its user; use --subject NAME\n"
                ))
        #expect(try await migration.run(file, "--subject", "alice").0 == 1)
        #expect(
            try await migration.run(file, "--subject", "alice", "--allow-short-keys")
                == (
                    0,
                    """
                    row 1: alice: imported, with a key of fewer than 128 bits
                    FILE: google-authenticator (PAM): 1 imported, 0 already present, 0 refused; \
                    2 emergency codes left out

                    """
                ))
        let key = SecretBytes(text: "abcdefghij")
        #expect(try await migration.result("alice", Self.code(step, key)) == "replayed")
        #expect(try await migration.result("alice", Self.code(step + 1, key)) == "accepted")
        let list = try await migration.asker.ask("GET", "/v1/subjects/alice/credentials")
        #expect(list?.text.contains(#""short_key":true"#) == true)
        #expect(try await migration.events().contains(#""reason":"shortKey""#))
        try await migration.server.stop()
    }

    @Test("a PSKC file is imported, and the result is reported as JSON")
    func pskc() async throws {
        let migration = try await Migration()
        let file = """
            <?xml version="1.0"?>
            <KeyContainer Version="1.0" xmlns="urn:ietf:params:xml:ns:keyprov:pskc"><KeyPackage>
            <Key Id="1" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp"><Issuer>Maker</Issuer>
            <AlgorithmParameters><ResponseFormat Length="6" Encoding="DECIMAL"/></AlgorithmParameters>
            <Data><Secret><PlainValue>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=</PlainValue></Secret>
            <Counter><PlainValue>7</PlainValue></Counter></Data><UserId>carol</UserId></Key>
            </KeyPackage></KeyContainer>
            """
        let (status, text) = try await migration.run(file, "--json")
        #expect(status == 0)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(
            lines.first?.hasPrefix(
                #"{"row":1,"result":"imported","subject":"carol","credential":"cr_"#) == true)
        #expect(
            lines.last
                == #"{"file":"FILE","format":"PSKC","imported":1,"present":0,"refused":0,"emergency_codes":0}"#
        )
        #expect(try await migration.result("carol", Self.code(6)) == "replayed")
        #expect(try await migration.result("carol", Self.code(7)) == "accepted")
        try await migration.server.stop()
    }

    @Test("with --json, the rows that were imported before an error are reported")
    func fullDisk() async throws {
        let state = try ServerProcess.State()
        _ = try await state.makeKey()
        let rows = (1...400).map { number in
            "HOTP user\(number) - \(String(repeating: "\(number + 100)", count: 14).prefix(40))\n"
        }
        let path = try state.folder.write(Array(rows.joined().utf8), to: "import")
        let program = BuiltProgram.path("watchword-server")
        let environment = state.environment
        // At most 600 blocks of 512 bytes per file: not all rows fit.
        let failed = try await onOwnThread {
            try #require(ForeignProgram("sh")).run(
                ["-c", "ulimit -f 600; exec \"$0\" import \"$1\" --json", program, path],
                environment: environment)
        }
        #expect(failed.status == 6)
        let lines = failed.text.split(separator: "\n")
        let reported = lines.count { $0.contains(#""result":"imported""#) }
        #expect(reported > 0 && reported == lines.count - 1)
        #expect(lines.last?.contains(#""result":"failed""#) == true)
        let rest = try await state.run("import", path)
        let counts = "\(rows.count - reported) imported, \(reported) already present"
        #expect(rest.text.contains(counts))
    }

    @Test("a file that no server has written is refused, and nothing is created")
    func otherFiles() async throws {
        let state = try ServerProcess.State()
        let other =
            "watchword-server: FILE: neither an OATH users file nor a google-authenticator or PSKC "
            + "file\n"
        for (content, status, words) in [
            ("nonsense\n", 3, other),
            (
                "otpauth://totp/A:b?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP\n", 3,
                "watchword-server: FILE: not a server's file (list of key URIs); specify an"
            ),
            (
                "HOTP a - \(Self.hex)\nHOTP b - \(Self.otherHex)\n", 2,
                "watchword-server: FILE: the file has several keys, but --subject names one user"
            ),
        ] {
            let path = try state.folder.write(Array(content.utf8), to: "import")
            let outcome = try await state.run("import", path, "--subject", "alice")
            let errors = String(decoding: outcome.errors, as: UTF8.self)
            #expect(outcome.status == Int32(status))
            #expect(errors.replacing(path, with: "FILE").hasPrefix(words), "\(errors)")
        }
        #expect(try await state.run("import", state.folder.file("missing")).status == 3)
        #expect(!FileManager.default.fileExists(atPath: state.database))
    }
}
