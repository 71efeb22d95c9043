import Foundation
import TestSupport
import Testing
import WatchwordSystem

@testable import ServerCommands

/// `status`, and the server's messages to the service manager.
struct StatusTests {
    @Test("status says that a server is ready, or why it is not")
    func running() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let address = "127.0.0.1:\(server.operationsPort)"
        let ready = try await state.run("status", "--ops-listen", address)
        #expect(ready.status == 0)
        #expect(ready.text == "The server at \(address) is ready.\n")
        let json = try await state.run("status", "--ops-listen", address, "--json")
        #expect(json.text == "{\"state\":\"ready\"}\n")
        try FileManager.default.moveItem(atPath: state.database, toPath: state.database + ".moved")
        /// While the housekeeper uses the writing connection, a different connection may report a
        /// different cause.
        func broken(_ format: String...) async throws -> String {
            for _ in 0..<100 {
                let program = ForeignProgram(path: BuiltProgram.path("watchword-server"))
                let environment = state.environment
                let outcome = try await onOwnThread {
                    try program.run(
                        ["status", "--ops-listen", address] + format, environment: environment)
                }
                if outcome.text.contains("file-gone") {
                    #expect(outcome.status == 1)
                    return outcome.text
                }
            }
            return "never reported"
        }
        let advice =
            "stop the server, put the database file back or restore a copy, and start the server"
        #expect(
            try await broken()
                == "The server at \(address) is not ready (store-unavailable file-gone): \(advice)\n"
        )
        #expect(
            try await broken("--json")
                == "{\"state\":\"not-ready\",\"cause\":\"store-unavailable file-gone\","
                + "\"advice\":\"\(advice)\"}\n")
        try await server.stop()
    }

    @Test("without a server, status reports what would prevent a server from becoming ready")
    func stopped() async throws {
        let state = try ServerProcess.State()
        #expect(try await state.run("init").status == 0)
        let socket = try LoopbackSocket.silent()
        let address = "127.0.0.1:\(socket.port)"
        func status(_ state: ServerProcess.State) async throws -> String {
            let outcome = try await state.run(
                "status", "--ops-listen", address, "--no-clock-check")
            #expect(outcome.status == 1 && outcome.errors == [])
            return outcome.text
        }
        let nobody = "No server answers at \(address)"
        #expect(
            try await status(state).hasPrefix("\(nobody), although its settings, keys, "))
        let fresh = try ServerProcess.State()
        #expect(
            try await status(fresh)
                == "\(nobody): there are no keys and no database yet; run watchword-server init\n")
        #expect(!FileManager.default.fileExists(atPath: fresh.keyFile))
        #expect(!FileManager.default.fileExists(atPath: fresh.database))
        try removeFile(state.keyFile)
        #expect(
            try await status(state).hasPrefix(
                "\(nobody): \(state.keyFile): the key file is missing"))
        #expect(try await fresh.run("init").status == 0)
        try removeFile(fresh.database)
        #expect(
            try await status(fresh).hasPrefix("\(nobody): there are keys, but no database"))
        try Data("no database".utf8).write(to: URL(filePath: fresh.database))
        try setMode(0o600, of: fresh.database)
        #expect(try await status(fresh).hasPrefix("\(nobody): \(fresh.database): "))
        withExtendedLifetime(socket) {}
    }

    @Test("without a server, status checks the settings of serve, and the process at its address")
    func unusable() async throws {
        let state = try ServerProcess.State()
        #expect(try await state.run("init").status == 0)
        let silent = try LoopbackSocket.silent()
        let refused = try await state.run(
            "status", "--ops-listen", "127.0.0.1:\(silent.port)",
            environment: ["WATCHWORD_PROFILE": "lax"])
        #expect(refused.status == 1)
        #expect(refused.text.contains("WATCHWORD_PROFILE must be strict, rfc or wide"))
        let other = try LoopbackSocket.listening()
        let address = "127.0.0.1:\(other.port)"
        async let outcome = state.run("status", "--ops-listen", address)
        let client = try await onOwnThread { other.accepted() }
        client?.end()
        #expect(try await outcome.status == 1)
        #expect(
            try await outcome.text.hasPrefix(
                "The process at \(address) does not answer as a server does"))
        withExtendedLifetime(silent) {}
    }

    private static let unshare = ForeignProgram(path: "/usr/bin/unshare")
    /// Whether this process may start a program in a separate PID namespace.
    private static let canUnshare: Bool = {
        do { return try unshare.run(["--pid", "--fork", "true"]).status == 0 } catch {
            return false
        }
    }()

    @Test(
        "T-01 in a container, a clock without a kernel report is accepted",
        .enabled(if: canUnshare, "needs the right to make a PID namespace"))
    func container() async throws {
        let state = try ServerProcess.State()
        #expect(try await state.run("init").status == 0)
        let socket = try LoopbackSocket.silent()
        let arguments = ["status", "--ops-listen", "127.0.0.1:\(socket.port)"]
        let outcome = try await onOwnThread {
            try Self.unshare.run(
                ["--pid", "--fork", BuiltProgram.path("watchword-server")] + arguments,
                environment: state.environment)
        }
        #expect(outcome.text.contains("although its settings, keys, "))
        // Outside the namespace, the result depends on the kernel.
        let isFine = SystemClock.isKeptByHost() || SystemClock.isSynchronized() == true
        let outside = try await state.run(arguments)
        #expect(outside.text.contains("although its settings, keys, ") == isFine)
        withExtendedLifetime(socket) {}
    }

    @Test(
        "only a complete response from a server counts",
        arguments: [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\nready\n", ServerStatus.ready),
            (
                "HTTP/1.1 503 X\r\n\r\nclock-unknown\nset it\n",
                .notReady(cause: "clock-unknown", advice: "set it")
            ),
            ("HTTP/1.1 503 X\r\n\r\nclock-unknown\n", .unclear),
            ("HTTP/1.1 200 OK\r\n\r\nalive\n", .unclear),
            ("HTTP/1.1 404 Not Found\r\n\r\nready\n", .unclear),
            ("HTTP/1.1 200 OK\r\n\r\n", .unclear), ("SSH-2.0-OpenSSH\r\n", .unclear),
            ("", .unclear),
        ] as [(String, ServerStatus)])
    func responses(_ response: String, _ status: ServerStatus) {
        #expect(ServerStatus(response: response) == status)
    }

    @Test("the service manager is told that the server has started, works, is not ready, or stops")
    func notices() async throws {
        let state = try ServerProcess.State()
        let manager = try DatagramSocket(at: state.folder.file("notify"))
        func message() throws -> String {
            String(decoding: try #require(manager.receive()), as: UTF8.self)
        }
        let server = try await ServerProcess(
            state,
            environment: [
                "NOTIFY_SOCKET": state.folder.file("notify"), "WATCHDOG_USEC": "300000",
            ])
        #expect(try message() == "READY=1\nSTATUS=ready\nWATCHDOG=1")
        #expect(try message() == "WATCHDOG=1")
        try FileManager.default.moveItem(atPath: state.database, toPath: state.database + ".moved")
        var heard = ""
        while !heard.contains("file-gone") { heard = try message() }
        #expect(heard.hasPrefix("STATUS=not ready (store-unavailable file-gone): stop the server"))
        #expect(heard.hasSuffix("\nWATCHDOG=1"))
        server.send(SIGTERM)
        while heard.hasSuffix("WATCHDOG=1") { heard = try message() }
        #expect(heard == "STOPPING=1\nSTATUS=stopping")
        #expect(try await server.ending() == 0)
    }

    @Test("a server that cannot reach its service manager logs this once, and keeps running")
    func unreachableManager() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(
            state,
            environment: [
                "NOTIFY_SOCKET": state.folder.file("none"), "WATCHDOG_USEC": "30000",
            ])
        while try !server.logged().contains("service-manager-not-told") {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await Asker(server.operationsPort).ask("GET", "/readyz")?.status == 200)
        #expect(try await server.stop() == 0)
        let lines = try server.logged().split(separator: "\n")
        #expect(lines.filter { $0.contains("service-manager-not-told") }.count == 1)
    }
}
