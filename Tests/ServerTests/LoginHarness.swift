import Foundation
import Synchronization
import TestSupport

/// A device with a vault, an application with an API key, and the real programs.
struct LoginHarness: Sendable {
    let state: ServerProcess.State
    let folder: TemporaryFolder
    /// The application's client, on the loopback address without TLS.
    let application: ServerProcess
    let key: String
    /// The port of ``keyServer()``, which device keys sign.
    let keyPort: UInt16

    init(store: String? = nil) async throws {
        state = try ServerProcess.State(store: store)
        folder = try TemporaryFolder()
        keyPort = try FreePort.find()
        application = try await ServerProcess(
            state, arguments: ["--audience", "https://localhost:\(keyPort)"])
        key = try await state.makeKey()
        try folder.write(Array("pass\n".utf8), to: "pass.txt")
        try folder.write(try TestCertificates.authority(), to: "ca.pem")
        let made = try await run("init", "--no-recovery-key", "--scrypt-log-n", "10")
        guard made.status == 0 else { throw ServerProcess.Failure.notListening(made.words) }
    }

    /// A second server with the same database and a certificate from `certificates`.
    func server(
        _ certificate: String = "good", of certificates: TemporaryFolder? = nil
    ) async throws -> ServerProcess {
        let folder = try certificates ?? TestCertificates.shared.get()
        return try await ServerProcess(
            state,
            arguments: [
                "--tls-certificate", folder.file("\(certificate).pem"), "--tls-key",
                folder.file("\(certificate).key"),
            ])
    }

    /// A server for device keys, on the port in the address that the keys sign.
    func keyServer(_ more: [String] = []) async throws -> ServerProcess {
        let folder = try TestCertificates.shared.get()
        return try await ServerProcess(
            state,
            arguments: [
                "--tls-certificate", folder.file("good.pem"), "--tls-key", folder.file("good.key"),
                "--audience", "https://localhost:\(keyPort)",
            ] + more, port: keyPort)
    }

    /// Runs `watchword` with the device's vault and passphrase.
    func run(_ arguments: String..., killing: Killing? = nil) async throws
        -> ForeignProgram.Outcome
    {
        try await run(arguments, killing: killing)
    }

    /// Runs `watchword` with the device's vault and passphrase.
    func run(_ arguments: [String], killing: Killing? = nil) async throws
        -> ForeignProgram.Outcome
    {
        let words = words(arguments)
        let environment = environment
        let program = BuiltProgram.path("watchword")
        return try await onOwnThread {
            let foreign = ForeignProgram(path: program)
            defer { killing?.process.withLock { $0 = nil } }
            return try foreign.run(words, environment: environment) { number in
                killing?.process.withLock { $0 = number }
            }
        }
    }

    /// The arguments with the device's passphrase.
    func words(_ arguments: [String]) -> [String] {
        arguments + ["--passphrase-file", folder.file("pass.txt")]
    }

    /// The environment of the device's program.
    var environment: [String: String] {
        ["WATCHWORD_VAULT": folder.file("vault"), "HOME": folder.path, "LC_ALL": "C.UTF-8"]
    }

    /// Writes a ticket for one of `subject`'s devices to `ticket.txt`.
    @discardableResult
    func ticket(
        for subject: String = "alice", _ request: String = #"{"type":"secret"}"#
    ) async throws -> [String: String] {
        let answer = try await Asker(application.port, key: key).ask(
            "POST", "/v1/subjects/\(subject)/credentials", request)
        let facts = answer?.texts ?? [:]
        guard let ticket = facts["ticket"] else {
            throw ServerProcess.Failure.notListening(answer?.text ?? "no answer")
        }
        try folder.write(Array("\(ticket)\n".utf8), to: "ticket.txt")
        return facts
    }

    func enrol(_ port: UInt16, _ name: String = "Mill:alice", scheme: String = "https")
        async throws -> ForeignProgram.Outcome
    {
        let common = ["--server", "\(scheme)://localhost:\(port)", "--ticket-file"]
        return try await run(
            "login", "enrol", name, common[0], common[1], common[2], folder.file("ticket.txt"),
            "--ca-file", folder.file("ca.pem"))
    }

    var keyEnrolment: [String] {
        [
            "key", "enrol", "Mill:alice", "--server", "https://localhost:\(keyPort)",
            "--ticket-file", folder.file("ticket.txt"), "--ca-file", folder.file("ca.pem"),
            "--presence", "per-use:passphrase",
        ]
    }

    func present(_ name: String = "Mill:alice", killing: Killing? = nil) async throws
        -> ForeignProgram.Outcome
    {
        try await run("login", "present", name, killing: killing)
    }

    /// The subject that the application gets for the login ticket; `nil` if the ticket is denied.
    func redeem(_ ticket: String) async throws -> String? {
        let line = ticket.trimmingCharacters(in: .newlines)
        return try await Asker(application.port, key: key).ask(
            "POST", "/v1/logins/redeem", #"{"login":"\#(line)"}"#)?.texts["subject"]
    }

    /// Ends a running device program from outside.
    final class Killing: Sendable {
        fileprivate let process = Mutex<Int32?>(nil)

        /// Kills the program if it is running.
        func kill() {
            process.withLock { number in
                if let number { _ = Foundation.kill(number, SIGKILL) }
            }
        }
    }
}

extension ForeignProgram.Outcome {
    /// The messages on standard error.
    var words: String { String(decoding: errors, as: UTF8.self) }
}
