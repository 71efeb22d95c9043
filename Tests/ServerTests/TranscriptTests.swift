import Foundation
import HTTPListener
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography

@testable import ServerCommands

/// Runs the transcripts of the service over sockets.
struct TranscriptTests {
    static func message(_ request: HTTPRequest) -> [UInt8] {
        var head =
            "\(request.method) \(request.target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        for field in request.headers { head += "\(field.name): \(field.value)\r\n" }
        if let value = request.authorization { head += "Authorization: \(value.text)\r\n" }
        let body = Array(request.body.text.utf8)
        if !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + body
    }

    static func response(_ bytes: [UInt8], to request: HTTPRequest) throws
        -> HTTPResponse
    {
        let isHead = request.method == "HEAD"
        let answer = try #require(RawConnection.answer(in: bytes, hasBody: !isHead))
        return HTTPResponse(
            status: answer.status, headers: answer.headers.map { HTTPField($0.key, $0.value) },
            body: SecretBytes(copying: answer.body.span))
    }

    @Test(
        "the service answers as the transcript specifies, over HTTP and with each database",
        arguments: try HTTPTranscript.all(), PasskeyServer.Database.possible)
    func plain(name: String, database: PasskeyServer.Database) async throws {
        let server = try await PasskeyServer(database)
        let (port, fixture) = (server.port, server.fixture)
        try await HTTPTranscript(named: name).run(keys: fixture.keys, clock: fixture.clock) {
            request in
            let connection = try RawConnection(port: port)
            try await connection.send(Self.message(request))
            return try Self.response(try await connection.receiveToEnd(), to: request)
        }
        await server.stop()
    }

    @Test(
        "the service answers as the transcript specifies, over HTTPS",
        .enabled(if: ForeignProgram("openssl") != nil, "openssl is not installed"),
        arguments: try HTTPTranscript.all())
    func encrypted(name: String) async throws {
        let openssl = try #require(ForeignProgram("openssl"))
        let folder = try TemporaryFolder()
        try makeTestIdentity("a", in: folder)
        let key = try folder.bytes(of: "a.key")
        let identity = TLSIdentity(
            certificate: try folder.bytes(of: "a.pem"), key: SecretBytes(copying: key.span))
        let fixture = try await ServiceFixture()
        let listener = try Listener.start(
            on: ListenAddress(loopbackPort: 0), tls: identity, refuser: fixture.service.refuse,
            handler: fixture.service.respond)
        let arguments = [
            "s_client", "-connect", "127.0.0.1:\(listener.address.port)", "-quiet", "-ign_eof",
            "-verify_return_error", "-verify_ip", "127.0.0.1", "-CAfile", folder.file("a.pem"),
        ]
        try await HTTPTranscript(named: name).run(keys: fixture.keys, clock: fixture.clock) {
            request in
            let message = Self.message(request)
            let outcome = try await onOwnThread { try openssl.run(arguments, input: message) }
            return try Self.response(outcome.output, to: request)
        }
        #expect(await listener.stop(grace: .seconds(60)))
    }
}
