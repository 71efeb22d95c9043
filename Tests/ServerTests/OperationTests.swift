import Foundation
import HTTPListener
import TestSupport
import Testing

/// A request whose head the server has read, and whose body is not sent yet.
private struct UnfinishedRequest {
    private static let body = #"{"ticket":"none"}"#
    let connection: RawConnection

    init(_ server: ServerProcess) async throws {
        connection = try RawConnection(port: server.port)
        let message = Asker.message(
            "POST", "/v1/device/enrolments", Self.body, key: nil,
            headers: "Expect: 100-continue\r\n")
        try await connection.send(String(message.dropLast(Self.body.count)))
        // The server asks for the body, so it has read the head.
        #expect(try await connection.answer()?.status == 100)
    }

    /// Sends the body and receives the response.
    func finish() async throws -> RawConnection.Answer? {
        try await connection.send(Self.body)
        return try await connection.answer()
    }
}

struct OperationTests {
    @Test("serve without options creates all that is missing, answers, and stops on TERM")
    func serving() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker)
        #expect(try await asker.verify("alice", alice.code())?.texts["result"] == "accepted")
        let again = try await asker.verify("alice", alice.code())?.texts
        #expect(again?["result"] == "denied")
        #expect(again?["reason"] == "replayed")
        #expect(try await Asker(server.operationsPort).ask("GET", "/livez")?.status == 200)
        #expect(try await Asker(server.operationsPort).ask("GET", "/readyz")?.status == 200)
        let metrics = try await Asker(server.operationsPort).ask("GET", "/metrics")
        #expect(metrics?.text.contains("outcome=\"replayed\"} 1\n") == true)
        for name in try names(in: state.folder.file("watchword")) {
            #expect(try mode(of: state.folder.file("watchword/\(name)")) == 0o600, "\(name)")
        }
        #expect(try mode(of: state.folder.file("watchword")) == 0o700)
        #expect(try await server.stop() == 0)
    }

    @Test(
        "V-27 only the operations listener serves health and metrics, and it does not serve the API"
    )
    func separation() async throws {
        let server = try await ServerProcess(ServerProcess.State())
        for path in ["/livez", "/readyz", "/metrics"] {
            #expect(try await Asker(server.port).ask("GET", path)?.status == 404)
        }
        #expect(
            try await Asker(server.operationsPort).ask("GET", "/v1/openapi.json")?.status == 404)
        try await server.stop()
    }

    @Test("V-03 a new server has no clients")
    func noDefaultClient() async throws {
        let server = try await ServerProcess(ServerProcess.State())
        let asker = try Asker(server.port, key: "wwk_" + String(repeating: "A", count: 43))
        #expect(try await asker.verify("alice", "123456")?.status == 401)
        try await server.stop()
    }

    @Test("on TERM the server finishes requests in progress; on a second TERM it stops at once")
    func stopping() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let slow = try await UnfinishedRequest(server)
        server.send(SIGTERM)
        while try !server.logged().contains("\"stopping\"") {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await slow.finish()?.status == 400)
        #expect(try await server.ending() == 0)
        #expect(try server.logged().hasSuffix("\"event\":\"stopped\"}\n"))

        let second = try await ServerProcess(state)
        let hanging = try await UnfinishedRequest(second)
        second.send(SIGTERM)
        while try !second.logged().contains("\"stopping\"") {
            try await Task.sleep(for: .milliseconds(5))
        }
        second.send(SIGTERM)
        #expect(try await second.ending() == 1)
        #expect(try await hanging.connection.receive() == [])
    }

    @Test("a server that is not ready logs the cause and the remedy once")
    func notReady() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        func ready() async throws -> Int? {
            try await Asker(server.operationsPort).ask("GET", "/readyz")?.status
        }
        #expect(try await ready() == 200)
        try FileManager.default.moveItem(atPath: state.database, toPath: state.database + ".moved")
        // While the housekeeper uses the writing connection, another connection may report a
        // different cause.
        var polls = 0
        while try polls < 100 && !server.logged().contains("file-gone") {
            #expect(try await ready() == 503)
            polls += 1
        }
        for _ in 0..<3 { #expect(try await ready() == 503) }
        try FileManager.default.moveItem(atPath: state.database + ".moved", toPath: state.database)
        for _ in 0..<2 { #expect(try await ready() == 200) }
        #expect(try await server.stop() == 0)
        let lines = try server.logged().split(separator: "\n")
        let changes = try lines.map { line in
            let facts = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
            return [facts?["event"] ?? "", facts?["cause"] ?? "", facts?["advice"] ?? ""]
        }.filter { ["not-ready", "ready-again"].contains($0[0]) }
        #expect(changes.last == ["ready-again", "", ""])
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0 != $1 })
        let gone = changes.first { $0[1] == "store-unavailable file-gone" }
        #expect(gone?[2].hasPrefix("stop the server, put the database file back") == true)
    }

    @Test("HUP without TLS neither stops the server nor cuts off the last requests")
    func hangUp() async throws {
        let server = try await ServerProcess(ServerProcess.State())
        /// Waits for the event; the server must not stop instead.
        func wait(for event: String) async throws {
            while true {
                let log = try server.logged()
                if log.contains("\"event\":\"\(event)\"") { return }
                try #require(server.isRunning, "\(log)")
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        server.send(SIGHUP)
        try await wait(for: "nothing-to-reload")
        let slow = try await UnfinishedRequest(server)
        server.send(SIGTERM)
        try await wait(for: "stopping")
        server.send(SIGHUP)
        // The server takes the signal before the last bytes arrive.
        while try server.hasPending(SIGHUP) { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await slow.finish()?.status == 400)
        #expect(try await server.ending() == 0)
        #expect(try server.logged().hasSuffix("\"event\":\"stopped\"}\n"))
    }

    @Test("clients can be added, listed and revoked while the server runs")
    func clients() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey("verify")
        #expect(key.hasPrefix("wwk_"))
        let asker = try Asker(server.port, key: key)
        #expect(try await asker.verify("bob", "123456")?.status == 200)
        #expect(try await asker.ask("GET", "/v1/events")?.status == 403)
        let listed = try await state.run("client", "list", "--json").output
        let facts = try JSONSerialization.jsonObject(with: Data(listed)) as? [String: Any]
        let id = try #require(facts?["client"] as? String)
        #expect(facts?["scopes"] as? [String] == ["verify"])
        #expect(!String(decoding: listed, as: UTF8.self).contains(key))
        #expect(try await state.run("client", "revoke", id).status == 0)
        #expect(try await asker.verify("bob", "123456")?.status == 401)
        #expect(try await state.run("client", "revoke", "cl_x").status == 1)
        try await server.stop()
    }

    @Test("a client's key can be renewed while the server runs, unless the client is revoked")
    func renewal() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let first = try await state.makeKey("verify")
        let old = try Asker(server.port, key: first)
        #expect(try await old.verify("bob", "123456")?.status == 200)
        let renewed = try await state.run("client", "renew", "tests")
        #expect(renewed.status == 0)
        let second = renewed.text.trimmingCharacters(in: .newlines)
        #expect(second.hasPrefix("wwk_") && second != first)
        let new = try Asker(server.port, key: second)
        #expect(try await old.verify("bob", "123456")?.status == 401)
        #expect(try await new.verify("bob", "123456")?.status == 200)
        #expect(try await new.ask("GET", "/v1/events")?.status == 403)
        let output = try await state.run("client", "renew", "tests", "--json").output
        let facts = try JSONSerialization.jsonObject(with: Data(output)) as? [String: Any]
        let third = try Asker(server.port, key: try #require(facts?["key"] as? String))
        #expect(try await new.verify("bob", "123456")?.status == 401)
        #expect(try await third.verify("bob", "123456")?.status == 200)
        let id = try #require(facts?["client"] as? String)
        #expect(try await state.run("client", "revoke", id).status == 0)
        let refused = try await state.run("client", "renew", id)
        #expect(refused.status == 1 && refused.output == [])
        #expect(String(decoding: refused.errors, as: UTF8.self).contains("this client is revoked"))
        #expect(try await third.verify("bob", "123456")?.status == 401)
        #expect(try await state.run("client", "renew", "nobody").status == 1)
        #expect(try await state.run("audit", "verify").status == 0)
        try await server.stop()
    }

    @Test("writing an API key to a file that other users can read causes a warning")
    func exposedKey() async throws {
        let state = try ServerProcess.State()
        let command = "umask $1; exec \"$0\" client add c$1 --scope verify >\"$2\""
        for (mask, isExposed) in [("022", true), ("077", false)] {
            let outcome = try await onOwnThread {
                try ForeignProgram(path: "/bin/sh").run(
                    [
                        "-c", command, BuiltProgram.path("watchword-server"), mask,
                        state.folder.file("key\(mask)"),
                    ], environment: state.environment)
            }
            #expect(outcome.status == 0)
            let said = String(decoding: outcome.errors, as: UTF8.self)
            #expect(said.contains("other users can read the file") == isExposed, "\(said)")
        }
    }

    @Test("an active client's name is unique, and control characters in it are escaped")
    func clientNames() async throws {
        let state = try ServerProcess.State()
        func add(_ name: String) async throws -> ForeignProgram.Outcome {
            try await state.run("client", "add", name, "--scope", "verify")
        }
        #expect(try await add("shop").status == 0)
        let taken = try await add("shop")
        #expect(taken.status == 1)
        #expect(taken.output == [])
        #expect(
            String(decoding: taken.errors, as: UTF8.self).contains("a client with this name exists")
        )
        // Several processes at once.
        let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<4 { group.addTask { try await add("till").status } }
            return try await group.reduce(into: []) { $0.append($1) }.sorted()
        }
        #expect(statuses == [0, 1, 1, 1])
        for name in ["cl_IyIkYbmlVZ8PqDzyB0oA2Q", String(repeating: "a", count: 257)] {
            #expect(try await add(name).status == 2)
        }
        #expect(try await add("a\u{1B}[2J\u{202E}b\nc").status == 0)
        let list = try await state.run("client", "list").text
        #expect(list.split(separator: "\n").count == 3)
        #expect(list.hasSuffix("  active  verify  a\\u{1B}[2J\\u{202E}b\\u{A}c\n"))
        #expect(try await state.run("client", "revoke", "shop").status == 0)
        #expect(try await state.run("client", "revoke", "shop").status == 0)
        #expect(try await state.run("client", "revoke", "sho").status == 1)
        let revoked = try await state.run("client", "list").text
        #expect(revoked.split(separator: "\n")[0].contains("  revoked "))
        #expect(try await add("shop").status == 0)
        #expect(try await state.run("client", "revoke", "shop").status == 0)
        let all = try await state.run("client", "list").text.split(separator: "\n")
        #expect(all.filter { $0.hasSuffix("  shop") && $0.contains("  revoked ") }.count == 2)
    }

    @Test(
        "usage errors have a message and the matching exit status",
        arguments: [
            ([], 2, "no command given"),
            (["sevre"], 2, "unknown command “sevre”; did you mean “serve”?"),
            (["serve", "--bogus"], 2, "unknown option “--bogus”"),
            (["serve", "--listen"], 2, "--listen needs a value"),
            (["serve", "--listen", "here"], 2, "--listen must be an address"),
            (["serve", "--profile", "lax"], 2, "--profile must be strict, rfc or wide"),
            (["serve", "--json"], 2, "does not apply to “serve”"),
            (["serve", "--listen", "[::]:0"], 2, "codes would travel in the clear"),
            (["serve", "--tls-key", "k"], 2, "--tls-key requires --tls-certificate"),
            (["serve", "--store", "mysql:x"], 2, "--store must be sqlite:PATH"),
            (["serve", "--trusted-proxy", "10.0.0.1/8"], 2, "--trusted-proxy must be"),
            (["serve", "--audience", "https://a.example/"], 2, "--audience must be"),
            (["serve", "--address-rate", "0"], 2, "--address-rate must be"),
            (["serve", "--return-to", "https://a.example/"], 2, "--return-to requires --pages"),
            (["serve", "--related-origin", "https://a.example"], 2, "requires --pages"),
            (["serve", "--pages", "--return-to", "http://a.example"], 2, "--return-to must be"),
            (
                ["serve", "--pages", "--related-origin", "https://a.example/b"], 2,
                "--related-origin must be"
            ),
            (["serve", "--pages"], 2, "--pages requires --rp-id"),
            (["serve", "--passkey-floor", "backup=any"], 2, "--passkey-floor requires --rp-id"),
            (["serve", "--audience", "https://LOGIN.example"], 2, "--audience must be"),
            (["serve", "--audience", "http://login.example"], 2, "--audience must be"),
            (["serve", "--audience", "https://login.example:443"], 2, "--audience must be"),
            (["serve", "--tpm-roots", "/nowhere.pem"], 3, "/nowhere.pem: no such file"),
            (["client", "add", "x"], 2, "--scope is required: one or more of verify, enrol"),
            (["client", "add", "--scope", "verify"], 2, "NAME is missing"),
            (["client", "add", "", "--scope", "verify"], 2, "NAME is missing"),
            (["client", "add", "x", "--scope", "verify,all"], 2, "--scope must be"),
            (["client", "list", "more"], 2, "too many arguments for “client list”"),
            (["client", "list"], 3, "no such file"),
        ] as [([String], Int32, String)])
    func usage(_ arguments: [String], _ status: Int32, _ words: String) async throws {
        let state = try ServerProcess.State()
        let program = ForeignProgram(path: BuiltProgram.path("watchword-server"))
        let environment = state.environment
        let outcome = try await onOwnThread {
            try program.run(arguments, environment: environment)
        }
        #expect(outcome.status == status)
        let said = String(decoding: outcome.errors, as: UTF8.self)
        #expect(said.contains(words), "\(said)")
        #expect(said.hasPrefix("watchword-server: "))
    }

    @Test(
        "H-08 N-06 the server accepts unencrypted codes from other machines only with --insecure-http"
    )
    func clearText() async throws {
        let state = try ServerProcess.State()
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8420"] {
            #expect(try await state.run("serve", "--listen", address).status == 2)
        }
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8421"] {
            let outcome = try await state.run("serve", "--ops-listen", address)
            #expect(outcome.status == 2)
            #expect(
                String(decoding: outcome.errors, as: UTF8.self)
                    .contains("the listener for health and metrics has no TLS"))
        }
        #expect(!FileManager.default.fileExists(atPath: state.database))
        let said = try await ServerProcess(
            state, arguments: [],
            environment: ["WATCHWORD_INSECURE_HTTP": "1", "WATCHWORD_TRUSTED_PROXY": "127.0.0.1"])
        try await said.stop()
        let outcome = try await state.run(
            "serve", "--listen", "192.0.2.1:0", "--insecure-http", "--ops-listen", "127.0.0.1:0")
        // Only the bind fails: no test machine has this address.
        #expect(outcome.status == 6)
        #expect(String(decoding: outcome.errors, as: UTF8.self).contains("(bind)"))
    }

    @Test("V-01 the documentation states the limits of the service")
    func limits() throws {
        let page = try String(
            contentsOf: PackageFolder.root.appending(
                path: "Sources/Server/VerificationService/API.md"),
            encoding: .utf8)
        let limits = ListenerLimits()
        for row in [
            "| request body | \(limits.body >> 10) KiB |",
            "| request line and header fields | \(limits.headers >> 10) KiB |",
            "| time to send the header fields | \(limits.headerTimeout.components.seconds) s |",
            "| time to send the body | \(limits.bodyTimeout.components.seconds) s |",
            "| time to read the response | \(limits.responseTimeout.components.seconds) s |",
            "| connections | 4,096,",
            "| connections from one address | \(limits.connectionsPerAddress) |",
            "(`--address-rate`) | 100 per second, 1,000 in a burst |",
        ] {
            #expect(page.contains(row), "\(row)")
        }
        #expect(limits.connections == 4_096)
    }

    @Test("a lost key file is not replaced if a database exists, and a port in use is reported")
    func startingRefused() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let taken = try await state.run("serve", "--listen", "127.0.0.1:\(server.port)")
        #expect(taken.status == 6)
        #expect(String(decoding: taken.errors, as: UTF8.self).contains("Address already in use"))
        try await server.stop()
        try removeFile(state.keyFile)
        let outcome = try await state.run("serve", "--listen", "127.0.0.1:0")
        #expect(outcome.status == 3)
        #expect(String(decoding: outcome.errors, as: UTF8.self).contains("the key file is missing"))
        #expect(!FileManager.default.fileExists(atPath: state.keyFile))
    }

    @Test("the environment sets options, and the command line overrides it")
    func environment() async throws {
        let state = try ServerProcess.State()
        let variables = [
            "WATCHWORD_STORE": "sqlite:\(state.folder.file("other/db"))",
            "WATCHWORD_LISTEN": "0.0.0.0:0",
        ]
        let server = try await ServerProcess(state, environment: variables)
        #expect(try names(in: state.folder.file("other")).contains("keys"))
        try await server.stop()
        let outcome = try await state.run("serve", environment: ["WATCHWORD_PROFILE": "lax"])
        #expect(
            String(decoding: outcome.errors, as: UTF8.self).contains("WATCHWORD_PROFILE must be"))
    }

    @Test("commands have help pages")
    func help() async throws {
        let state = try ServerProcess.State()
        let program = try await state.run("--help").text
        for verb in ["serve", "client add", "keys rotate", "audit verify", "openapi"] {
            #expect(program.contains("  \(verb)"))
            let words = verb.split(separator: " ").map(String.init)
            let page = try await state.run(
                words[0], words.count > 1 ? words[1] : "--help", "--help")
            #expect(page.status == 0)
            #expect(page.text.contains("Usage: watchword-server \(verb)"))
        }
    }
}
