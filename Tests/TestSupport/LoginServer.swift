internal import Foundation

/// A server with the device's routes in its own process (`Tests/LoginServer/login-server.py`).
///
/// It misbehaves on demand and ends with its last owner.
public final class LoginServer: Sendable {
    /// The port on 127.0.0.1 that it listens on.
    public let port: Int

    private let process: Process
    private let input: FileHandle
    private let folder: TemporaryFolder

    /// Thrown if the server did not start.
    public struct NotStarted: Error {}

    /// Starts a server.
    ///
    /// Each request uses the next of `faults`, whose names the script explains.
    ///
    /// - Parameter certificate: the name of one of ``TestCertificates``. Without it, the server
    ///   does not use TLS.
    public init(_ faults: [String] = [], certificate: String? = nil, options: [String] = [])
        throws
    {
        folder = try TemporaryFolder()
        try folder.write([], to: "log")
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        var arguments = [
            PackageFolder.root.appending(path: "Tests/LoginServer/login-server.py").path,
            "--log", folder.file("log"),
        ]
        if let certificate {
            let certificates = try TestCertificates.shared.get()
            arguments += ["--certificate", certificates.file("\(certificate).pem")]
            arguments += ["--key", certificates.file("\(certificate).key")]
        }
        process.arguments = arguments + options + faults.flatMap { ["--fault", $0] }
        let toServer = Pipe()
        let fromServer = Pipe()
        process.standardInput = toServer
        process.standardOutput = fromServer
        process.standardError = FileHandle.nullDevice
        try process.start()
        input = toServer.fileHandleForWriting
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            let part = fromServer.fileHandleForReading.availableData
            guard !part.isEmpty else { throw NotStarted() }
            line += part
        }
        guard let port = Int(String(decoding: line.dropLast(), as: UTF8.self)) else {
            throw NotStarted()
        }
        self.port = port
    }

    /// The address of a server that uses TLS.
    public var address: String { "https://localhost:\(port)" }

    /// The files that ``enrolment(_:)`` names: a ticket and the CA certificate.
    public static func enrolmentFiles() throws -> [(name: String, bytes: [UInt8])] {
        [
            ("ticket.txt", Array("wwt_ticket\n".utf8)),
            ("ca.pem", try TestCertificates.authority()),
        ]
    }

    /// The arguments of `watchword` that enrol a device at this server.
    public func enrolment(_ name: String) -> String {
        "login enrol \(name) --server \(address) --ticket-file ticket.txt --ca-file ca.pem"
    }

    // SIGKILL, because the threads of a test run block the other signals, and child processes
    // inherit the signal mask.
    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// One request as the server received it.
    public struct Request: Sendable {
        /// The path of the request.
        public let path: String
        /// The header fields by name.
        public let headers: [String: String]
        /// The strings in the body by name.
        public let body: [String: String]
    }

    /// The requests received so far.
    public func requests() throws -> [Request] {
        try folder.bytes(of: "log").split(separator: UInt8(ascii: "\n")).map { line in
            let value = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            return Request(
                path: value?["path"] as? String ?? "",
                headers: value?["headers"] as? [String: String] ?? [:],
                body: value?["body"] as? [String: String] ?? [:])
        }
    }
}

/// Valid and invalid server certificates, made once per test run.
public enum TestCertificates {
    /// A folder with the files that `Tests/LoginServer/make-certificates.py` lists.
    public static let shared = Result { () throws -> TemporaryFolder in try make() }

    /// Makes new certificates.
    ///
    /// If `seconds` is given, adds one named `brief` that is valid for that long.
    public static func make(brief seconds: Int? = nil) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let script = PackageFolder.root.appending(path: "Tests/LoginServer/make-certificates.py")
        // Debian's own Python, which finds Debian's libraries, regardless of PATH.
        let made = try ForeignProgram(path: "/usr/bin/python3").run(
            [script.path, folder.path] + (seconds.map { ["\($0)"] } ?? []))
        guard made.status == 0 else { throw LoginServer.NotStarted() }
        return folder
    }

    /// The CA certificate that signed the valid certificates, in PEM.
    public static func authority() throws -> [UInt8] {
        try shared.get().bytes(of: "authority.pem")
    }
}
