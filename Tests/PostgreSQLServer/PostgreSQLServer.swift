import Foundation
import Synchronization
import TestSupport

/// A PostgreSQL server for one test, on 127.0.0.1, in its own folder, with full durability.
///
/// The server ends with its last owner, or with the test process, however the process ends. Skip
/// the test if PostgreSQL is not installed: `@Suite(.enabled(if: PostgreSQLServer.isInstalled,
/// "postgresql is missing"))`.
public final class PostgreSQLServer: Sendable {
    /// Whether PostgreSQL's programs are installed.
    public static let isInstalled = PostgreSQLPrograms.folder != nil

    /// One server for all tests of this process that do not disturb it, started at first use.
    public static func shared() throws -> PostgreSQLServer { try theShared.get() }
    private static let theShared = Result { try PostgreSQLServer.start() }

    /// The port on 127.0.0.1; a restart keeps it.
    public let port: UInt16
    /// The folder of the server's data, log and Unix socket.
    public let folder: String
    var data: String { "\(folder)/data" }
    private var log: String { "\(folder)/log" }
    private let keeper: ServerKeeper
    private let process = Mutex<Process?>(nil)

    /// Creates a server without a database and starts it.
    ///
    /// - Parameter settings: additional lines of `postgresql.conf`.
    public static func start(settings: [String: String] = [:]) throws -> PostgreSQLServer {
        try PostgreSQLServer { server in
            // The initial files are not flushed to disk; all later writes are.
            try PostgreSQLPrograms.run(
                "initdb",
                [
                    "--pgdata", server.data, "--username", "postgres", "--auth", "trust",
                    "--encoding", "UTF8", "--locale", "C", "--wal-segsize", "1", "--no-sync",
                ])
            try server.configure(settings)
            try server.launch()
            // Applications do not connect as the superuser. One of the roles has a password.
            try server.query(
                """
                CREATE ROLE watchword LOGIN;
                CREATE ROLE guarded LOGIN PASSWORD '\(password)' IN ROLE watchword
                """)
        }
    }

    /// The password of `guarded`, the only role that has one.
    public static let password = "known test password"

    init(filling fill: (PostgreSQLServer) throws -> Void) throws {
        // The folder is not below TMPDIR, which other users may not be allowed to enter. The path
        // is short because Unix socket paths have a length limit.
        folder = "/tmp/watchword-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        keeper = try ServerKeeper(folder: folder)
        if let user = PostgreSQLPrograms.servingUser {
            try FileManager.default.setAttributes([.ownerAccountName: user], ofItemAtPath: folder)
        }
        port = try FreePort.find()
        try fill(self)
    }

    /// Appends settings to the configuration; they apply from the next start.
    func configure(_ settings: [String: String]) throws {
        let usual = [
            "listen_addresses": "127.0.0.1", "port": "\(port)", "unix_socket_directories": folder,
            "timezone": "UTC", "log_timezone": "UTC",
            // Shared memory is in files in the server's folder, so that it is removed with the
            // folder.
            "dynamic_shared_memory_type": "mmap",
            // Many tests run at once, each with several servers of four connections.
            "max_connections": "400",
            // A replication connection that a test delays must stay open, however long the test
            // takes.
            "wal_sender_timeout": "0", "wal_receiver_timeout": "0",
        ]
        let lines = usual.merging(settings) { $1 }.sorted { $0.key < $1.key }
            .map { "\($0.key) = '\($0.value)'\n" }.joined()
        let file = try FileHandle(forWritingTo: URL(filePath: "\(data)/postgresql.conf"))
        try file.seekToEnd()
        try file.write(contentsOf: Data(lines.utf8))
        try file.close()
        let rules = "host all guarded 127.0.0.1/32 scram-sha-256\n"
        let path = "\(data)/pg_hba.conf"
        let old = try String(contentsOfFile: path, encoding: .utf8)
        if !old.hasPrefix(rules) {
            // The file is written in place, because a new file would have a different owner.
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.write(contentsOf: Data((rules + old).utf8))
            try file.close()
        }
    }

    /// Starts the server on its existing data, and waits until it accepts connections.
    public func launch() throws {
        let words = try PostgreSQLPrograms.command("postgres", ["-D", data])
        if !FileManager.default.fileExists(atPath: log) {
            try Data().write(to: URL(filePath: log))
        }
        let output = try FileHandle(forWritingTo: URL(filePath: log))
        try output.seekToEnd()
        let started = Process()
        started.executableURL = URL(filePath: words[0])
        started.arguments = Array(words.dropFirst())
        started.environment = PostgreSQLPrograms.environment
        started.standardInput = FileHandle.nullDevice
        started.standardOutput = output
        started.standardError = output
        try started.start()
        try output.close()
        process.withLock { $0 = started }
        try poll("the server starts: \(log)") {
            guard started.isRunning else {
                throw PostgreSQLServerError.failed(
                    "the server exited: \(try logged().suffix(2_000))")
            }
            // A killed server may have left its file behind.
            guard Postmaster(serving: data)?.pid == started.processIdentifier else { return false }
            return Postmaster.isReady(in: data)
        }
    }

    /// Whether the postmaster is running.
    public var isRunning: Bool { Postmaster(serving: data) != nil }

    /// The content of the log so far.
    public func logged() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }

    /// Shuts the server down in fast mode, which disconnects the clients.
    public func stop() throws {
        guard let postmaster = Postmaster(serving: data) else { return }
        kill(postmaster.pid, SIGINT)
        try awaitEnd()
    }

    /// Kills all processes of the server with SIGKILL.
    public func kill9() throws {
        try Postmaster(serving: data)?.kill9()
        try awaitEnd()
    }

    /// Stops the server if it is running, and starts it again on the same port.
    public func restart() throws {
        try stop()
        try launch()
    }

    private func awaitEnd() throws {
        try poll("the server ends") { process.withLock { $0?.isRunning ?? false } == false }
    }
}
