import Foundation
import TestSupport
import Testing

/// `init`, and the server's use of the files and sockets that a service manager passes.
struct SetupTests {
    private func words(_ outcome: ForeignProgram.Outcome) -> String {
        String(decoding: outcome.errors, as: UTF8.self)
    }

    @Test("init creates the keys, the database and the first client, and prints three steps")
    func settingUp() async throws {
        let state = try ServerProcess.State()
        let made = try await state.run("init", "--client", "shop")
        #expect(made.status == 0)
        let key = made.text.trimmingCharacters(in: .newlines)
        #expect(key.hasPrefix("wwk_") && !key.contains("\n"))
        #expect(!words(made).contains("wwk_"))
        for line in [
            "Keys: \(state.keyFile)", "Database: \(state.database)", "Next:",
            "  1. Start the server: watchword-server serve",
            "  2. Enrol the first user: watchword-server subject enrol NAME",
            "  3. Copy \(state.keyFile) to a safe place",
        ] { #expect(words(made).contains(line), "\(line)") }
        let list = try await state.run("client", "list").text
        #expect(list.hasSuffix("  active  enrol,verify  shop\n"))
        #expect(try mode(of: state.keyFile) == 0o600)
        let server = try await ServerProcess(state)
        #expect(
            try await Asker(server.port, key: key).verify("alice", "123456")?.status == 200)
        try await server.stop()
    }

    @Test("serve says once what it created and what to do next")
    func created() async throws {
        let state = try ServerProcess.State()
        for count in [1, 0] {
            let server = try await ServerProcess(state)
            #expect(try await server.stop() == 0)
            let lines = try server.logged().split(separator: "\n")
                .filter { $0.contains("the database and the key file were created") }
            #expect(lines.count == count)
            for words in [state.database, state.keyFile, "watchword-server client add NAME"] {
                #expect(lines.allSatisfy { $0.contains(words) }, "\(words)")
            }
        }
    }

    @Test("serve says if it created an empty database for existing keys")
    func createdDatabase() async throws {
        let state = try ServerProcess.State()
        for count in [0, 1] {
            let server = try await ServerProcess(state)
            #expect(try await server.stop() == 0)
            let lines = try server.logged().split(separator: "\n")
                .filter { $0.contains("so an empty one was created") }
            #expect(lines.count == count)
            #expect(lines.allSatisfy { $0.contains(state.database) })
            for ending in ["", ".mark"] { try removeFile(state.database + ending) }
        }
    }

    @Test("a second init keeps the keys and the database")
    func again() async throws {
        let state = try ServerProcess.State()
        #expect(try await state.run("init", "--client", "shop").status == 0)
        let keys = try Data(contentsOf: URL(filePath: state.keyFile))
        let taken = try await state.run("init", "--client", "shop")
        #expect(taken.status == 0 && taken.output == [])
        #expect(words(taken).contains("client renew"))
        #expect(words(taken).contains("  3. Copy \(state.keyFile) to a safe place"))
        let plain = try await state.run("init", "--json")
        #expect(plain.status == 0)
        let facts = try JSONSerialization.jsonObject(with: Data(plain.output)) as? [String: Any]
        #expect(facts?["keys"] as? String == state.keyFile)
        #expect(facts?["database"] as? String == state.database)
        #expect(facts?["settings"] is NSNull)
        #expect((facts?["next"] as? [String])?.count == 3)
        let quiet = try await state.run("--quiet", "init")
        #expect(quiet.status == 0 && quiet.output == [] && quiet.errors == [])
        #expect(try Data(contentsOf: URL(filePath: state.keyFile)) == keys)
        #expect(try await state.run("client", "list").text.split(separator: "\n").count == 1)
    }

    @Test("init completes an interrupted run, and keeps the keys of that run")
    func interrupted() async throws {
        let state = try ServerProcess.State()
        let parent = state.folder.file("watchword")
        try FileManager.default.createDirectory(
            atPath: parent, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        // The interruption occurred while the keys were being written.
        let begun = Array("watchword-keys 1\nlo".utf8)
        try setMode(0o600, of: state.folder.write(begun, to: "watchword/keys.new"))
        #expect(try await state.run("init").status == 0)
        let keys = try Data(contentsOf: URL(filePath: state.keyFile))
        // The interruption occurred before the database was created.
        for name in try names(in: parent) where name != "keys" {
            try removeFile("\(parent)/\(name)")
        }
        #expect(try await state.run("init", "--client", "shop").status == 0)
        // The interruption occurred before the API key was printed.
        let again = try await state.run("init", "--client", "shop")
        #expect(again.status == 0 && again.output == [])
        #expect(try await state.run("client", "renew", "shop").text.hasPrefix("wwk_"))
        #expect(try Data(contentsOf: URL(filePath: state.keyFile)) == keys)
        #expect(try names(in: parent).allSatisfy { !$0.hasSuffix(".new") })
    }

    @Test("init writes the options of serve to the settings file, which the service reads")
    func settings() async throws {
        let state = try ServerProcess.State()
        let path = try state.folder.write(Array("#WATCHWORD_PROFILE=wide\n".utf8), to: "conf")
        let made = try await state.run(
            "init", "--settings", path, "--profile", "rfc", "--insecure-http", "--listen",
            "0.0.0.0:8420", "--client", "shop", "--scope", "verify")
        #expect(made.status == 0)
        #expect(words(made).contains("Settings: \(path)\n"))
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == "#WATCHWORD_PROFILE=wide\nWATCHWORD_PROFILE=rfc\nWATCHWORD_INSECURE_HTTP=1\n"
                + "WATCHWORD_LISTEN=0.0.0.0:8420\n")
        #expect(try await state.run("client", "list").text.hasSuffix("  active  verify  shop\n"))
    }

    @Test("init applies the settings that the file already contains")
    func existingSettings() async throws {
        let state = try ServerProcess.State()
        let database = state.folder.file("other.db")
        let lines = "WATCHWORD_STORE=sqlite:\(database)\nWATCHWORD_INSECURE_HTTP=1\n"
        let path = try state.folder.write(Array(lines.utf8), to: "conf")
        let made = try await state.run("init", "--settings", path, "--listen", "0.0.0.0:8420")
        #expect(made.status == 0)
        #expect(words(made).contains("Database: \(database)\n"))
        #expect(words(made).contains("  1. Start the service that reads \(path) ("))
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == lines + "WATCHWORD_LISTEN=0.0.0.0:8420\n")
        #expect(FileManager.default.fileExists(atPath: database))
        #expect(!FileManager.default.fileExists(atPath: state.database))
    }

    @Test("on a terminal, init asks for missing settings until each answer is valid")
    func questions() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("conf")
        func run(
            _ arguments: String, _ answers: [(String, String)], status: Int32 = 0
        ) throws -> String {
            let terminal = try PseudoTerminal(
                "watchword-server init --settings \(path) \(arguments)", in: folder,
                environment: ["XDG_STATE_HOME": folder.path])
            for (question, answer) in answers {
                try terminal.waitFor(question)
                terminal.clear()
                try terminal.type(answer + "\n")
            }
            #expect(try terminal.end() == status)
            return terminal.screen
        }
        let address = "Address of the API [127.0.0.1:8420]: "
        let client = "Name of the first application that may use the API (empty: none): "
        let wrong = (address, "here")
        let refused = try run("", [wrong, wrong, wrong], status: 2)
        #expect(refused.contains("a question got no valid answer"))
        #expect(try names(in: folder.path) == [])
        let made = try run("--insecure-http", [wrong, (address, "0.0.0.0:1"), (client, "shop")])
        #expect(made.contains("wwk_"))
        // The command does not ask for settings that it has already.
        #expect(try run("", [(client, "")]).contains("Next:"))
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == "WATCHWORD_INSECURE_HTTP=1\nWATCHWORD_LISTEN=0.0.0.0:1\n")
    }

    @Test(
        "init refuses settings that serve refuses, or that it cannot store, and creates nothing",
        arguments: [
            (["--listen", "127.0.0.1:1"], "--listen requires --settings"),
            (["--settings", "CONF", "--listen", "0.0.0.0:1"], "codes would travel in the clear"),
            (["--settings", "CONF", "--profile", "lax"], "--profile must be"),
            (["--settings", "CONF", "--pages"], "--pages requires --rp-id"),
            (["--settings", "CONF", "--keys", "keys"], "--keys must be an absolute path"),
            (["--settings", "CONF", "--store", "sqlite:a/b"], "--store must be an absolute path"),
            (
                ["--settings", "CONF", "--rp-id", "mill.example", "--rp-name", "The \"Mill\""],
                "--rp-name must be text without quotation marks"
            ),
            (["--client", "cl_x"], "must not begin with cl_"),
            (["--client", "shop", "--scope", "all"], "--scope must be"),
        ] as [([String], String)])
    func refused(_ arguments: [String], _ sentence: String) async throws {
        let state = try ServerProcess.State()
        let path = state.folder.file("conf")
        let program = ForeignProgram(path: BuiltProgram.path("watchword-server"))
        let given = ["init"] + arguments.map { $0 == "CONF" ? path : $0 }
        let environment = state.environment
        let outcome = try await onOwnThread { try program.run(given, environment: environment) }
        #expect(outcome.status == 2)
        #expect(words(outcome).contains(sentence), "\(words(outcome))")
        for path in [path, state.keyFile, state.database] {
            #expect(!FileManager.default.fileExists(atPath: path), "\(path)")
        }
    }

    @Test("a server uses the keys that a service manager passes, and keeps its own files elsewhere")
    func credential() async throws {
        let state = try ServerProcess.State()
        #expect(try await state.run("init").status == 0)
        let passed = state.folder.file("credentials")
        try FileManager.default.createDirectory(
            atPath: passed, withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: state.keyFile, toPath: passed + "/keys")
        try setMode(0o440, of: passed + "/keys")
        let environment = ["CREDENTIALS_DIRECTORY": passed]
        #expect(try await state.run("client", "list").status == 3)
        #expect(try await state.run("client", "list", environment: environment).status == 0)
        let server = try await ServerProcess(state, environment: environment)
        #expect(try await Asker(server.operationsPort).ask("GET", "/readyz")?.status == 200)
        #expect(try await server.stop() == 0)
        #expect(try names(in: passed) == ["keys"])
        let rotated = try await state.run("keys", "rotate", environment: environment)
        #expect(rotated.status == 3)
        #expect(words(rotated).contains("the server got a copy of the file"))
        try setMode(0o444, of: passed + "/keys")
        let exposed = try await state.run("client", "list", environment: environment)
        #expect(exposed.status == 3)
        #expect(words(exposed).contains("other users can access the file"))
        // `--keys` takes precedence; without a credential of this name, the server uses the usual
        // keys.
        try setMode(0o400, of: passed + "/keys")
        #expect(
            try await state.run("client", "list", "--keys", passed + "/keys").status == 0)
        let other = ["CREDENTIALS_DIRECTORY": state.folder.path]
        #expect(try await state.run("client", "list", environment: other).status == 3)
    }
}
