import Foundation
import TestSupport

/// A `watchword-server` for device keys, and the application that uses it.
final class KeyServer {
    private let folder: TemporaryFolder
    private let port: UInt16
    private let key: String
    private let process = Process()
    /// The proxy between the devices and the server, if the test drops messages.
    let proxy: FaultInjectingProxy?

    /// The reason why the server did not start or respond.
    struct Failure: Error {
        let text: String
    }

    init(isProxied: Bool = false) throws {
        folder = try TemporaryFolder()
        port = try FreePort.find()
        proxy = isProxied ? try FaultInjectingProxy(to: port) : nil
        let program = BuiltProgram.path("watchword-server")
        let environment = ["XDG_STATE_HOME": folder.path, "PATH": "/usr/bin:/bin"]
        let added = try ForeignProgram(path: program).run(
            ["client", "add", "tests", "--scope", "verify,enrol,manage,reasons"],
            environment: environment)
        key = added.text.trimmingCharacters(in: .newlines)
        process.executableURL = URL(filePath: program)
        process.arguments = [
            "serve", "--listen", "127.0.0.1:\(port)", "--ops-listen", "127.0.0.1:0",
            "--no-clock-check", "--audience", "http://localhost:\(proxy?.port ?? port)",
        ]
        process.environment = environment
        try folder.write([], to: "log")
        process.standardError = try FileHandle(
            forWritingTo: URL(filePath: folder.file("log")))
        try process.start()
        while try !log().contains("\"listening\"") {
            guard process.isRunning else { throw Failure(text: try log()) }
        }
    }

    // The threads of a test run block other signals, and child processes inherit the mask.
    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The server address that device keys sign.
    var address: String { "http://localhost:\(proxy?.port ?? port)" }

    /// The server's log so far.
    func log() throws -> String { String(decoding: try folder.bytes(of: "log"), as: UTF8.self) }

    /// The number of signatures that devices have sent.
    func signatures() throws -> Int {
        try log().components(separatedBy: "/v1/device/signatures").count - 1
    }

    /// The members of the response to an application's request.
    @discardableResult
    func ask(_ method: String, _ target: String, _ body: String = "{}") throws -> [String: Any] {
        guard let connection = try LoopbackSocket.connected(to: port) else {
            throw Failure(text: "no connection")
        }
        let length =
            "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(key)\r\n"
            + (body.isEmpty ? "" : length) + "\r\n"
        guard connection.send(Array((head + body).utf8)[...]) else {
            throw Failure(text: "not sent")
        }
        var bytes: [UInt8] = []
        while true {
            if let answer = RawConnection.answer(in: bytes) {
                guard !answer.body.isEmpty else { return [:] }
                let object = try JSONSerialization.jsonObject(with: Data(answer.body))
                return object as? [String: Any] ?? [:]
            }
            guard let part = connection.receive(), !part.isEmpty else {
                throw Failure(text: "no answer")
            }
            bytes += part
        }
    }

    /// An enrolment ticket for a key, and the ID of the credential that it creates.
    ///
    /// - Parameters:
    ///   - more: further members of the request.
    ///   - type: `secret` for an enrolled secret.
    func ticket(
        for subject: String = "ann", _ more: String = "", type: String = "key"
    ) throws -> (text: String, credential: String) {
        let answer = try ask(
            "POST", "/v1/subjects/\(subject)/credentials", #"{"type":"\#(type)"\#(more)}"#)
        guard let ticket = answer["ticket"] as? String,
            let credential = answer["credential"] as? String
        else { throw Failure(text: "\(answer)") }
        return (ticket, credential)
    }

    /// The server's response to the application for a login ticket, which may be part of a screen.
    func redeem(_ screen: String) throws -> [String: String] {
        let text = screen.replacing("\r\n", with: "\n")
        let line = text.split(separator: "\n").first { $0.hasPrefix("wwl_") }
        guard let line else { throw Failure(text: screen) }
        return try ask("POST", "/v1/logins/redeem", #"{"login":"\#(line)"}"#)
            .compactMapValues { $0 as? String }
    }

    /// The path of the file with a text to confirm.
    func confirmation(of text: String, by credential: String) throws -> String {
        let body = ["credential": credential, "purpose": "confirm", "text": text]
        let answer = try ask(
            "POST", "/v1/challenges",
            String(decoding: JSONSerialization.data(withJSONObject: body), as: UTF8.self))
        guard let challenge = answer["challenge"] as? String,
            let expiry = answer["expires_ms"] as? NSNumber
        else { throw Failure(text: "\(answer)") }
        return "\(challenge)\n\(expiry)\n\(text)\n"
    }

    /// The IDs of a subject's active credentials.
    func active(of subject: String = "ann") throws -> [String] {
        let answer = try ask("GET", "/v1/subjects/\(subject)/credentials", "")
        let list = answer["credentials"] as? [[String: Any]] ?? []
        return list.filter { $0["state"] as? String == "active" }
            .compactMap { $0["credential"] as? String }
    }
}
