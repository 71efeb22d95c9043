import TestSupport
import Testing
import WatchwordCryptography

@testable import HTTPListener

private let openssl = ForeignProgram("openssl")

/// Chunked bodies: libmicrohttpd 0.9.75 also accepts malformed chunks, so all of them are refused.
struct ChunkTests {
    private static func chunked(_ name: String, _ body: String, _ status: Int = 411) -> RawCase {
        RawCase(name, post("Transfer-Encoding: chunked", body), status)
    }

    static let refused: [RawCase] = [
        chunked("well-formed chunks", chunks),
        RawCase("chunks in capitals", post("Transfer-Encoding: CHUNKED", chunks), 411),
        chunked("an extension and a trailer", "3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n"),
        RawCase("a space after the coding", post("Transfer-Encoding: chunked ", chunks), 411),
        RawCase("a tab after the coding", post("Transfer-Encoding: chunked\t", chunks), 411),
        RawCase(
            "a client that asks first",
            post("Transfer-Encoding: chunked\r\nExpect: 100-continue", ""), 411),
        chunked("bare LF after the size", "3\nabc\r\n0\r\n\r\n"),
        chunked("bare LF after the data", "3\r\nabc\n0\r\n\r\n"),
        chunked("bare LF after the last chunk", "3\r\nabc\r\n0\n\r\n"),
        chunked("bare LF as the empty line", "3\r\nabc\r\n0\r\n\n"),
        chunked("CR in an extension", "3;a\rb\r\nabc\r\n0\r\n\r\n"),
        chunked("NUL in an extension", "3;a\0b\r\nabc\r\n0\r\n\r\n"),
        chunked("a folded trailer", "3\r\nabc\r\n0\r\nX: y\r\n z\r\n\r\n"),
        chunked("a trailer that is a length", "3\r\nabc\r\n0\r\nContent-Length: 9\r\n\r\n"),
        chunked("a size with leading zeros", "0000000003\r\nabc\r\n0\r\n\r\n"),
        chunked("a second request behind it", chunks + "GET /b HTTP/1.1\r\nHost: x\r\n\r\n"),
        chunked("a size in another base", "0x3\r\nabc\r\n0\r\n\r\n", 0),
        chunked("a size with a sign", "+3\r\nabc\r\n0\r\n\r\n", 0),
        chunked("a space after the size", "3 \r\nabc\r\n0\r\n\r\n", 0),
        chunked("no size", "\r\nabc\r\n0\r\n\r\n", 0),
        chunked("a size that is not a number", "zz\r\nabc\r\n0\r\n\r\n", 0),
        chunked("more data than the size", "3\r\nabcd\r\n0\r\n\r\n", 0),
        chunked("a size beyond all", "ffffffffffffffffff\r\nabc\r\n0\r\n\r\n", 0),
        chunked("a trailer without a colon", "3\r\nabc\r\n0\r\nX\r\n\r\n", 0),
    ]

    @Test("a chunked body is refused, well formed or not", arguments: refused)
    func refusal(_ one: RawCase) async throws {
        let test = try TestListener()
        let connection = try await test.connection(sending: one.bytes)
        let answer = try await connection.receiveToEnd()
        one.expectAnswer(answer)
        #expect(test.handled == 0)
        await test.stop()
    }

    @Test("a client that sends chunks one by one gets status 411 before the connection closes")
    func pieces() async throws {
        let test = try TestListener()
        let connection = try RawConnection(port: test.port)
        for part in [post("Transfer-Encoding: chunked", ""), "3\r\n", "abc\r\n", "0\r\n", "\r\n"] {
            try await connection.send(part)
        }
        #expect(try await connection.answer()?.status == 411)
        #expect(try await connection.receive() == [])
        await test.stop()
    }

    @Test(
        "requests that are refused over HTTP are also refused over TLS",
        .enabled(if: openssl != nil, "openssl is not installed"))
    func overTLS() async throws {
        let folder = try TemporaryFolder()
        try makeTestIdentity("a", in: folder)
        let authority = folder.file("a.pem")
        let keyBytes = try folder.bytes(of: "a.key")
        let key = SecretBytes(copying: keyBytes.span)
        let test = try TestListener(
            tls: TLSIdentity(certificate: try folder.bytes(of: "a.pem"), key: key))
        let plain = RawCase("a length", post("Content-Length: 3\r\nConnection: close"), 200)
        for one in [plain] + Self.refused + StrictnessTests.refused {
            let answer = try await said(to: one.bytes, port: test.port, authority)
            one.expectAnswer(answer)
        }
        #expect(test.handled == 1)
        await test.stop()
    }

    /// All bytes that the server sends over TLS, up to the end of the connection.
    private func said(to bytes: [UInt8], port: UInt16, _ authority: String) async throws -> [UInt8]
    {
        let arguments = [
            "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", authority,
            "-verify_return_error", "-quiet",
        ]
        return try await onOwnThread {
            let outcome = try openssl?.run(arguments, input: bytes)
            return outcome?.output ?? []
        }
    }
}
