import Foundation
import TestSupport
import Testing

private let openssl = ForeignProgram("openssl")

@Suite(.enabled(if: openssl != nil, "openssl is not installed"))
struct TLSTests {
    private func serve(_ state: ServerProcess.State) async throws -> ServerProcess {
        try makeTestIdentity("a", in: state.folder)
        return try await ServerProcess(
            state,
            arguments: [
                "--tls-certificate", state.folder.file("a.pem"), "--tls-key",
                state.folder.file("a.key"),
            ])
    }

    /// Connects with the given `openssl` options, sends a request, and returns the output of both
    /// sides.
    private func speak(_ server: ServerProcess, _ options: [String]) async throws -> String {
        let authority = server.state.folder.file("a.pem")
        let arguments =
            ["s_client", "-connect", "127.0.0.1:\(server.port)", "-CAfile", authority]
            + ["-verify_return_error", "-verify_ip", "127.0.0.1", "-ign_eof"] + options
        let message = "GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        return try await onOwnThread {
            let outcome = try openssl?.run(arguments, input: Array(message.utf8))
            return String(
                decoding: (outcome?.output ?? []) + (outcome?.errors ?? []), as: UTF8.self)
        }
    }

    @Test("V-26 the server accepts TLS 1.2 and 1.3, and nothing older or weaker")
    func matrix() async throws {
        let server = try await serve(ServerProcess.State())
        for (options, version) in [
            (["-tls1_3"], "TLSv1.3"), (["-tls1_2"], "TLSv1.2"),
            (["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"], "TLSv1.2"),
        ] {
            let said = try await speak(server, options)
            #expect(said.contains("HTTP/1.1 200 OK"), "\(options)")
            #expect(said.contains("Strict-Transport-Security: max-age=31536000"), "\(options)")
            #expect(said.contains("New, \(version)"), "\(options)")
        }
        let weakest = ["-cipher", "ALL:@SECLEVEL=0"]
        for options in [
            ["-tls1_1"] + weakest, ["-tls1"] + weakest,
            ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0"],
            ["-tls1_2", "-cipher", "AES128-GCM-SHA256:@SECLEVEL=0"],
        ] {
            let said = try await speak(server, options)
            #expect(!said.contains("HTTP/1.1"), "\(options)")
            // The server refuses the handshake after the client has sent its hello.
            #expect(said.contains("handshake has read 0 bytes"), "\(options)")
            #expect(!said.contains("written 0 bytes"), "\(options)")
        }
        #expect(try await server.stop() == 0)
    }

    @Test("an unfinished handshake does not keep a processor busy", arguments: [1, 5, 60])
    func unfinished(count: Int) async throws {
        let server = try await serve(ServerProcess.State())
        let connection = try RawConnection(port: server.port)
        // The beginning of a record with a ClientHello of 508 bytes.
        let hello: [UInt8] = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]
        try await connection.send(Array((hello + [UInt8](repeating: 7, count: 50)).prefix(count)))
        // Other processes may delay the server, so one interval without processor time before the
        // connection ends is enough.
        var ticks: (before: Int, now: Int)
        repeat {
            ticks.before = try server.ticks()
            try await Task.sleep(for: .seconds(1))
            ticks.now = try server.ticks()
        } while ticks.now > ticks.before + 10 && connection.isSilent
        #expect(connection.isSilent)
        #expect(try await server.stop() == 0)
    }

    @Test(
        "HUP installs a new certificate, closes no connection, and ignores an invalid file"
    )
    func renewed() async throws {
        let state = try ServerProcess.State()
        let server = try await serve(state)
        try state.folder.write(try state.folder.bytes(of: "a.pem"), to: "old.pem")
        let old = state.folder.file("old.pem")
        try makeTestIdentity("b", in: state.folder)
        try state.folder.write(try state.folder.bytes(of: "b.pem"), to: "a.pem")
        try await hangUp(server, trusting: old, until: "certificate-kept")
        #expect(try server.logged().contains("does not match"))
        #expect(try await speak(server, ["-CAfile", old]).contains("200 OK"))

        try state.folder.write(try state.folder.bytes(of: "b.key"), to: "a.key")
        try await hangUp(server, trusting: old, until: "certificate-replaced")
        // `speak` trusts the new certificate.
        #expect(try await speak(server, []).contains("HTTP/1.1 200 OK"))
        #expect(
            try await !speak(server, ["-CAfile", old]).contains("HTTP/1.1 200 OK"))
        #expect(try await server.stop() == 0)
    }

    /// Sends HUP and waits for the event, while two connections are open; one of them is in the
    /// middle of a request.
    ///
    /// The server closes a connection that is idle for long, so nothing slow happens in between.
    private func hangUp(
        _ server: ServerProcess, trusting authority: String, until event: String
    ) async throws {
        let clients = try (0..<2).map { _ in try TLSClient(server.port, trusting: authority) }
        for client in clients { #expect(try await client.ask().hasPrefix("HTTP/1.1 200")) }
        try clients[1].begin()
        server.send(SIGHUP)
        while try !server.logged().contains("\"\(event)\"") {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await clients[1].end().hasPrefix("HTTP/1.1 200"))
        #expect(try await clients[0].ask().hasPrefix("HTTP/1.1 200"))
    }

    @Test("V-20 a plain HTTP request to the HTTPS port gets no response and no redirect")
    func plain() async throws {
        let server = try await serve(ServerProcess.State())
        let connection = try RawConnection(port: server.port)
        try await connection.send("GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
        let said = String(decoding: try await connection.receiveToEnd(), as: UTF8.self)
        #expect(!said.contains("HTTP/"))
        try await server.stop()
    }

    @Test("a server with an unusable certificate or key does not start, and reports why")
    func refused() async throws {
        let state = try ServerProcess.State()
        for name in ["a", "b"] { try makeTestIdentity(name, in: state.folder) }
        try state.folder.write(Array("nothing\n".utf8), to: "none")
        for (certificate, key, words) in [
            ("a.pem", "b.key", "does not match"),
            ("none", "a.key", "contains no PEM certificate"),
            ("a.pem", "none", "contains no PEM private key"),
            ("a.key", "a.key", "contains no PEM certificate"),
            ("missing", "a.key", "no such file"),
        ] {
            let outcome = try await state.run(
                "serve", "--tls-certificate", state.folder.file(certificate), "--tls-key",
                state.folder.file(key))
            #expect(outcome.status == 3)
            let said = String(decoding: outcome.errors, as: UTF8.self)
            #expect(said.contains(words), "\(said)")
        }
    }
}
