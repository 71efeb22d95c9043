import Foundation
import OneTimePassword
import TestSupport

/// A `watchword-server` process with its own directory, on ports that the kernel chooses.
final class ServerProcess: Sendable {
    enum Failure: Error { case notListening(String) }

    let state: State
    let port: UInt16
    let operationsPort: UInt16
    private let log: String
    private let process: Process

    /// The state that several servers share.
    final class State: Sendable {
        let folder: TemporaryFolder
        var database: String { folder.file("watchword/watchword.db") }
        var keyFile: String { folder.file("watchword/keys") }

        /// The URL of a database outside the directory; `nil` for a file in it.
        let store: String?

        init(store: String? = nil) throws {
            folder = try TemporaryFolder()
            self.store = store
        }

        /// The complete environment of the program.
        var environment: [String: String] {
            let usual = [
                "XDG_STATE_HOME": folder.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            ]
            return store.map { usual.merging(["WATCHWORD_STORE": $0]) { $1 } } ?? usual
        }

        /// Runs a command and waits for it.
        func run(_ arguments: String..., environment more: [String: String] = [:]) async throws
            -> ForeignProgram.Outcome
        {
            try await run(arguments, environment: more)
        }

        /// Runs a command and waits for it.
        func run(_ arguments: [String], environment more: [String: String] = [:]) async throws
            -> ForeignProgram.Outcome
        {
            let environment = environment.merging(more) { $1 }
            return try await onOwnThread {
                try ForeignProgram(path: BuiltProgram.path("watchword-server"))
                    .run(arguments, environment: environment)
            }
        }

        /// Creates an API key with all scopes, or with `scopes`.
        func makeKey(
            _ scopes: String = "verify,enrol,import,manage,reasons,audit,read"
        ) async throws -> String {
            let outcome = try await run("client", "add", "tests", "--scope", scopes)
            return outcome.text.trimmingCharacters(in: .newlines)
        }
    }

    /// Starts the server and waits until it listens.
    init(
        _ state: State, arguments: [String] = [], environment more: [String: String] = [:],
        under limits: String = "", port: UInt16 = 0
    ) async throws {
        self.state = state
        log = state.folder.file("log-\(UUID().uuidString)")
        try Data().write(to: URL(filePath: log))
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            ["-c", "\(limits) exec \"$0\" \"$@\"", BuiltProgram.path("watchword-server"), "serve"]
            + ["--listen", "127.0.0.1:\(port)", "--ops-listen", "127.0.0.1:0", "--no-clock-check"]
            + arguments
        process.environment = state.environment.merging(more) { $1 }
        process.standardError = try FileHandle(forWritingTo: URL(filePath: log))
        try process.start()
        self.process = process
        while true {
            let text = try String(contentsOfFile: log, encoding: .utf8)
            if let line = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .first(where: { $0.contains("\"listening\"") })
            {
                self.port = try ServerProcess.port("service", in: line)
                operationsPort = try ServerProcess.port("operations", in: line)
                return
            }
            guard process.isRunning else { throw Failure.notListening(text) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    deinit {
        // A failed test leaves the process running.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    private static func port(_ name: String, in line: Substring) throws -> UInt16 {
        let facts = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
        guard let port = (facts?[name]?.split(separator: ":").last).flatMap({ UInt16($0) }) else {
            throw Failure.notListening(String(line))
        }
        return port
    }

    /// The log so far.
    func logged() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }

    var pid: Int32 { process.processIdentifier }

    func send(_ signal: Int32) { _ = kill(process.processIdentifier, signal) }

    var isRunning: Bool { process.isRunning }

    /// Whether this signal is still pending for the process (`proc_pid_status(5)`).
    func hasPending(_ signal: Int32) throws -> Bool {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let mask = status.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }
            .flatMap { UInt64($0.dropFirst(7).drop { $0 == "\t" }, radix: 16) }
        guard let mask else { throw Failure.notListening(status) }
        return mask & 1 << UInt64(signal - 1) != 0
    }

    /// The processor time so far, in hundredths of a second (`proc_pid_stat(5)`).
    func ticks() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.dropFirst(11).prefix(2).compactMap { Int($0) }.reduce(0, +)
    }

    /// Waits for the process to end.
    ///
    /// Returns the exit status, or the negative number of the signal.
    func ending() async throws -> Int32 {
        try await onOwnThread { [self] in
            process.waitUntilExit()
            let status = process.terminationStatus
            return process.terminationReason == .exit ? status : -status
        }
    }

    /// Waits until the server reports that it is ready.
    func awaitReady() async throws {
        // Not a performance requirement: this only ends a test that would otherwise hang.
        let end = ContinuousClock.now + .seconds(60)
        while try await Asker(operationsPort).ask("GET", "/readyz")?.status != 200 {
            guard ContinuousClock.now < end else { throw Failure.notListening(try logged()) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Sends TERM and waits for the process to end.
    @discardableResult func stop() async throws -> Int32 {
        send(SIGTERM)
        return try await ending()
    }
}

/// A client that opens a connection for each request, because the server closes connections that
/// are idle for long.
struct Asker: Sendable {
    let key: String?
    private let port: UInt16
    /// The connection for all requests; `nil` for a new one for each.
    private let connection: RawConnection?

    /// - Parameter keepsConnection: whether to open one connection now, for all requests.
    init(_ port: UInt16, key: String? = nil, keepsConnection: Bool = false) throws {
        self.key = key
        self.port = port
        connection = try keepsConnection ? RawConnection(port: port) : nil
    }

    static func message(
        _ method: String, _ target: String, _ body: String?, key: String?, headers: String = ""
    ) -> String {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: test\r\n\(headers)"
        if let key { head += "Authorization: Bearer \(key)\r\n" }
        if let body {
            head += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        }
        return head + "\r\n" + (body ?? "")
    }

    /// Sends a request; returns `nil` if the connection ends without a response.
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, headers: String = ""
    ) async throws -> RawConnection.Answer? {
        let connection = try connection ?? RawConnection(port: port)
        try await connection.send(
            Asker.message(method, target, body, key: key, headers: headers))
        return try await connection.answer()
    }

    func verify(
        _ subject: String, _ code: String, headers: String = ""
    ) async throws -> RawConnection.Answer? {
        try await ask(
            "POST", "/v1/verifications", #"{"subject":"\#(subject)","code":"\#(code)"}"#,
            headers: headers)
    }
}

extension RawConnection.Answer {
    /// The members of the JSON object that are strings.
    var texts: [String: String] {
        let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        return (object ?? [:]).compactMapValues { $0 as? String }
    }
}

/// A subject with a confirmed TOTP credential.
struct EnrolledSubject: Sendable {
    let name: String
    let credential: String
    let uri: String
    /// The codes from 30 minutes before the one spent for the confirmation to 90 minutes after it.
    private let codes: [String]

    /// - Parameter period: the period of the codes. After the confirmation, at least the next code
    ///   is valid.
    init(_ name: String, _ asker: Asker, period: Int = 30) async throws {
        let made = try await asker.ask(
            "POST", "/v1/subjects/\(name)/credentials",
            #"{"type":"totp","issuer":"Test","account":"\#(name)","period":\#(period)}"#)
        let facts = made?.texts ?? [:]
        guard let uri = facts["uri"], let id = facts["credential"] else {
            throw ServerProcess.Failure.notListening(made?.text ?? "no answer")
        }
        let credential = try KeyURI(parsing: Array(uri.utf8).span).credential
        let generator = credential.generator()
        var confirmed: RawConnection.Answer?
        var codes: [String] = []
        // The next time step may begin before the code arrives; then try a different code.
        for _ in 0..<3 where confirmed?.texts["result"] != "accepted" {
            let now = Int64(Date.now.timeIntervalSince1970)
            // Use the previous step, and leave the later ones for the test.
            let step = UInt64(try credential.step(atUnixTime: now)) - 1
            codes = (0..<240).map { generator.code(at: step - 60 + $0).text }
            confirmed = try await asker.ask(
                "POST", "/v1/credentials/\(id)/confirm", #"{"code":"\#(codes[60])"}"#)
        }
        guard confirmed?.texts["result"] == "accepted" else {
            throw ServerProcess.Failure.notListening(confirmed?.text ?? "no answer")
        }
        self.codes = codes
        self.name = name
        self.credential = id
        self.uri = uri
    }

    /// The code `ahead` steps after the spent one: 1 is valid now, 2 in the next step.
    func code(_ ahead: Int = 1) -> String { codes[60 + ahead] }

    /// Codes that are wrong for the next hour.
    func wrongCodes(_ count: Int) -> [String] {
        let right = Set(codes)
        return (0..<(count + 240)).map { String(100_000 + $0) }.filter { !right.contains($0) }
            .prefix(count).map { $0 }
    }
}
