import Foundation
import TestSupport

/// A persistent TLS connection, with `openssl s_client`.
final class TLSClient: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private static let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"

    /// Writing to a client that has ended is an error, and does not end the tests.
    private static let survivesBrokenPipes = signal(SIGPIPE, SIG_IGN)

    /// Connects and trusts the certificate in the file `authority`.
    init(_ port: UInt16, trusting authority: String) throws {
        _ = TLSClient.survivesBrokenPipes
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = [
            "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", authority,
            "-verify_return_error", "-verify_ip", "127.0.0.1", "-quiet",
        ]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Sends a request and waits for the complete response.
    func ask() async throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data(TLSClient.request.utf8))
        return try await answer()
    }

    /// Sends a request except for its last byte.
    func begin() throws {
        try input.fileHandleForWriting.write(contentsOf: Data(TLSClient.request.utf8.dropLast()))
    }

    /// Sends the last byte and waits for the complete response.
    func end() async throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data(TLSClient.request.utf8.suffix(1)))
        return try await answer()
    }

    private func answer() async throws -> String {
        try await onOwnThread { [output] in
            var bytes: [UInt8] = []
            while RawConnection.answer(in: bytes) == nil {
                let part = output.fileHandleForReading.availableData
                guard !part.isEmpty else { break }
                bytes += part
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
