import Foundation
import Synchronization
import TestSupport

/// A PostgreSQL server of the test's own: on 127.0.0.1, in a folder of its own, with full durability.
///
/// It ends with its last owner, or with the process of the test, however that ends. Where PostgreSQL
/// may be missing, the test says so:
/// `@Suite(.enabled(if: PostgreSQLServer.isInstalled, "postgresql-15 is missing"))`.
public final class PostgreSQLServer: Sendable {
    /// Whether PostgreSQL's programs are here.
    public static let isInstalled = PostgreSQLPrograms.folder != nil

    /// One server for every test of this process that does it no harm; made when first asked for.
    public static func shared() throws -> PostgreSQLServer { try theShared.get() }
    private static let theShared = Result { try PostgreSQLServer.start() }

    /// The port at 127.0.0.1, the same when the server is started again.
    public let port: UInt16
    /// Where the server's data are, its log and its Unix socket.
    public let folder: String
    var data: String { "\(folder)/data" }
    private var log: String { "\(folder)/log" }
    private let keeper: ServerKeeper
    private let process = Mutex<Process?>(nil)

    /// Makes a server that has no database yet, and starts it.
    ///
    /// - Parameter settings: lines of `postgresql.conf` beyond the usual ones.
    public static func start(settings: [String: String] = [:]) throws -> PostgreSQLServer {
        try PostgreSQLServer { server in
            // The initial files are not flushed; everything that is written later is.
            try PostgreSQLPrograms.run(
                "initdb",
                [
                    "--pgdata", server.data, "--username", "postgres", "--auth", "trust",
                    "--encoding", "UTF8", "--locale", "C", "--wal-segsize", "1", "--no-sync",
                ])
            try server.configure(settings)
            try server.launch()
            // Who uses a database is not who may do everything; one of them has a password.
            try server.query(
                """
                CREATE ROLE watchword LOGIN;
                CREATE ROLE guarded LOGIN PASSWORD '\(password)' IN ROLE watchword
                """)
        }
    }

    /// The password of the role `guarded`, which has to give it: no other role has one.
    public static let password = "no secret but of tests"

    init(filling fill: (PostgreSQLServer) throws -> Void) throws {
        // Not below TMPDIR, which may be nobody else's to enter, and short: a socket's path is.
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

    /// Adds lines to the configuration; they hold from the next start.
    func configure(_ settings: [String: String]) throws {
        let usual = [
            "listen_addresses": "127.0.0.1", "port": "\(port)", "unix_socket_directories": folder,
            "timezone": "UTC", "log_timezone": "UTC",
            // Memory that is files in the server's folder, so that it goes with it.
            "dynamic_shared_memory_type": "mmap",
            // Many tests at once, each with some servers of four connections.
            "max_connections": "400",
            // What a test holds back stays so, however long the test takes.
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
            // In place: another file would be another user's.
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.write(contentsOf: Data((rules + old).utf8))
            try file.close()
        }
    }

    /// Starts the server on the data that it has, and waits until it takes connections.
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
                    "the server ended: \(try logged().suffix(2_000))")
            }
            // The file of a server that was killed may lie there still.
            guard Postmaster(serving: data)?.pid == started.processIdentifier else { return false }
            return Postmaster.isReady(in: data)
        }
    }

    /// Whether its first process runs.
    public var isRunning: Bool { Postmaster(serving: data) != nil }

    /// What it has logged so far.
    public func logged() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }

    /// Stops it in good order, but without waiting for its clients.
    public func stop() throws {
        guard let postmaster = Postmaster(serving: data) else { return }
        kill(postmaster.pid, SIGINT)
        try awaitEnd()
    }

    /// Kills all its processes with signal 9.
    public func kill9() throws {
        try Postmaster(serving: data)?.kill9()
        try awaitEnd()
    }

    /// Stops it, unless it is stopped or killed, and starts it again at the same port.
    public func restart() throws {
        try stop()
        try launch()
    }

    private func awaitEnd() throws {
        try poll("the server ends") { process.withLock { $0?.isRunning ?? false } == false }
    }
}
