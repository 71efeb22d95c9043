internal import Foundation

/// A server of the device's routes in a process of its own (`Tests/LoginServer/login-server.py`), which does wrong
/// on demand and ends with the last owner.
public final class LoginServer: Sendable {
    /// The port that it listens at, on this machine.
    public let port: Int

    private let process: Process
    private let input: FileHandle
    private let folder: TemporaryFolder

    /// What kept it from starting.
    public struct NotStarted: Error {}

    /// Starts one; each request takes the next of `faults`, words that the script explains.
    ///
    /// - Parameter certificate: the name of one of ``TestCertificates``; without it there is no TLS.
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

    // Threads of a test run hold signals back, and hand that on to what they start: only the signal that nobody
    // holds back ends it for certain.
    deinit { kill(process.processIdentifier, SIGKILL) }

    /// One request as it arrived.
    public struct Request: Sendable {
        /// The path that was asked for.
        public let path: String
        /// The header's values by their names.
        public let headers: [String: String]
        /// The body's texts by their names.
        public let body: [String: String]
    }

    /// What has arrived so far.
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

/// Certificates of servers, good and bad ones, made once for a run of the tests.
public enum TestCertificates {
    /// The folder of the files that `Tests/LoginServer/make-certificates.py` names.
    public static let shared = Result { () throws -> TemporaryFolder in try make() }

    /// Makes new ones; with one more, `brief`, that is good for so many seconds.
    public static func make(brief seconds: Int? = nil) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let script = PackageFolder.root.appending(path: "Tests/LoginServer/make-certificates.py")
        // Debian's Python, which finds Debian's library, whatever else is in the PATH.
        let made = try ForeignProgram(path: "/usr/bin/python3").run(
            [script.path, folder.path] + (seconds.map { ["\($0)"] } ?? []))
        guard made.status == 0 else { throw LoginServer.NotStarted() }
        return folder
    }

    /// The authority that vouches for the good ones, in PEM.
    public static func authority() throws -> [UInt8] {
        try shared.get().bytes(of: "authority.pem")
    }
}
