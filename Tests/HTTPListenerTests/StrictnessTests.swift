import TestSupport
import Testing

@testable import HTTPListener

struct StrictnessTests {
    static let refused: [RawCase] = [
        RawCase("two lengths, alike", post("Content-Length: 3\r\nContent-Length: 3"), 400),
        RawCase("two lengths in one", post("Content-Length: 3, 3"), 0),
        RawCase(
            "length and chunks", post("Content-Length: 3\r\nTransfer-Encoding: chunked", chunks),
            400),
        RawCase(
            "chunks and length", post("Transfer-Encoding: chunked\r\nContent-Length: 3", chunks),
            400),
        RawCase("unknown coding", post("Transfer-Encoding: xchunked", chunks), 501),
        RawCase("coding in a list", post("Transfer-Encoding: gzip, chunked", chunks), 501),
        RawCase(
            "coding twice",
            post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", chunks),
            400),
        RawCase(
            "chunks in HTTP/1.0", post("Transfer-Encoding: chunked", chunks, version: "1.0"), 400),
        RawCase("length with a sign", post("Content-Length: +3"), 0),
        RawCase("length below zero", post("Content-Length: -3"), 0),
        RawCase("length in words", post("Content-Length: three"), 0),
        RawCase("length in two parts", post("Content-Length: 3 3"), 0),
        RawCase("length in hexadecimal", post("Content-Length: 0x3"), 0),
        RawCase("no length after the colon", post("Content-Length: "), 0),
        RawCase("length beyond all", post("Content-Length: 99999999999999999999"), 0),
        RawCase("length of nineteen digits", post("Content-Length: 9999999999999999999"), 400),
        RawCase("two hosts", "GET /a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400),
        RawCase("no host", "GET /a HTTP/1.1\r\nX-A: 1\r\n\r\n", 400),
        RawCase("no header at all", "GET /a HTTP/1.1\r\n\r\n", 400),
        RawCase("two hosts in one", "GET /a HTTP/1.1\r\nHost: x, y\r\n\r\n", 400),
        RawCase("two authorizations", post("Authorization: a\r\nauthorization: b"), 400),
        RawCase("two content types", post("Content-Type: a\r\nContent-Type: a"), 400),
        RawCase("two idempotency keys", post("Idempotency-Key: a\r\nIdempotency-Key: b"), 400),
        RawCase("bare LF throughout", "GET /a HTTP/1.1\nHost: x\n\n", 400),
        RawCase("bare LF after the first line", "GET /a HTTP/1.1\nHost: x\r\n\r\n", 400),
        RawCase("bare LF after a header", "GET /a HTTP/1.1\r\nHost: x\nX-A: 1\r\n\r\n", 400),
        RawCase("bare LF after the last header", "GET /a HTTP/1.1\r\nHost: x\n\r\n", 400),
        RawCase("bare LF as the empty line", "GET /a HTTP/1.1\r\nHost: x\r\n\n", 400),
        RawCase(
            "bare LF, made up for by a space", "GET /a HTTP/1.1\r\nHost: x \nX-A: 1\r\n\r\n", 400),
        RawCase("bare CR", "GET /a HTTP/1.1\r\nHost: x\rX-A: 1\r\n\r\n", 400),
        RawCase(
            "a value in two lines", "GET /a HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n b\r\nX-B: 2\r\n\r\n",
            400),
        RawCase(
            "the last value in two lines", "GET /a HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n\tb\r\n\r\n",
            400),
        RawCase("a folded first header", "GET /a HTTP/1.1\r\n Host: x\r\nX-A: 1\r\n\r\n", 400),
        RawCase("NUL in a value", "GET /a HTTP/1.1\r\nHost: x\r\nX-A: 1\0b\r\nX-B: 2\r\n\r\n", 400),
        RawCase("NUL in the last value", "GET /a HTTP/1.1\r\nHost: x\r\nX-A: 1\0b\r\n\r\n", 400),
        RawCase("NUL in a name", "GET /a HTTP/1.1\r\nHost: x\r\nX\0A: 1\r\n\r\n", 0),
        RawCase("NUL in the target", "GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        RawCase(
            "a control character in a value", "GET /a HTTP/1.1\r\nHost: x\r\nX-A: \u{7}\r\n\r\n",
            400),
        RawCase("a space before the colon", "GET /a HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        RawCase("a space in a name", "GET /a HTTP/1.1\r\nHost: x\r\nX A: 1\r\n\r\n", 400),
        RawCase("no name", "GET /a HTTP/1.1\r\nHost: x\r\n: 1\r\n\r\n", 400),
        RawCase("no colon", "GET /a HTTP/1.1\r\nHost: x\r\nX-A\r\n\r\n", 0),
        RawCase("two spaces in the first line", "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        RawCase("no version", "GET /a\r\nHost: x\r\n\r\n", 0),
        RawCase("another version", "GET /a HTTP/3.0\r\nHost: x\r\n\r\n", 0),
        RawCase("an old version", "GET /a HTTP/0.9\r\nHost: x\r\n\r\n", 0),
        RawCase("a later minor version", "GET /a HTTP/1.2\r\nHost: x\r\n\r\n", 400),
        RawCase("the first line of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0),
        RawCase("one word", "GET\r\n\r\n", 0),
        RawCase("half a version", "GET /a HTTP/1.1x\r\nHost: x\r\n\r\n", 0),
        RawCase("a method that is not a token", "G(T /a HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        RawCase("a target without a slash", "GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        RawCase("a fragment", "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        RawCase("bytes in the target", "GET /ä HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        RawCase("an unknown expectation", post("Content-Length: 3\r\nExpect: 200-ok"), 417),
        RawCase(
            "two expectations",
            post("Content-Length: 3\r\nExpect: 100-continue\r\nExpect: 100-continue"), 400),
    ]

    @Test("ambiguous requests are refused", arguments: refused)
    func refusal(_ one: RawCase) async throws {
        let test = try TestListener()
        let connection = try await test.connection(sending: one.bytes)
        let all = try await connection.receiveToEnd()
        // The connection has ended, so this also checks that no data follows the response.
        one.expectAnswer(all)
        #expect(test.handled == 0)
        await test.stop()
    }

    private static let accepted: [RawCase] = [
        RawCase("a length", post("Content-Length: 3"), 200),
        RawCase(
            "no value",
            "POST /a HTTP/1.1\r\nHost: x\r\nX-A:\r\nX-B: \r\nContent-Length: 3\r\n\r\nabc", 200),
        RawCase("a list in two headers", post("Accept: a\r\nAccept: b\r\nContent-Length: 3"), 200),
        RawCase(
            "no space after the colon", "POST /a HTTP/1.1\r\nHost:x\r\nContent-Length:3\r\n\r\nabc",
            200),
        RawCase("HTTP/1.0 without a host", "POST /a HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", 200),
        RawCase(
            "a proxy's form", "POST http://y/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
            200),
    ]

    @Test("unambiguous requests are accepted", arguments: accepted)
    func acceptance(_ one: RawCase) async throws {
        let test = try TestListener()
        let answer = try await test.answer(to: one.bytes)
        #expect(answer?.status == one.status)
        #expect(answer?.text == "POST /a abc")
        await test.stop()
    }

    @Test("the handler gets the path, the query and the peer's address unchanged")
    func target() async throws {
        let test = try TestListener()
        let answer = try await test.answer(
            to: "GET /a%2Fb%00/..?x=%41&y=&&z HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer?.text == "GET /a%2Fb%00/..?x=%41&y=&&z ")
        #expect(answer?.headers["x-peer"] == "127.0.0.1")
        await test.stop()
    }

    @Test(
        "a request that exceeds libmicrohttpd's memory limit gets no response",
        arguments: [
            "GET /a HTTP/1.1\r\nHost: x\r\nX-A: \(String(repeating: "a", count: 65_600))\r\n\r\n",
            post(
                "Transfer-Encoding: chunked", "3;" + String(repeating: "a", count: 65_600)),
        ])
    func memory(_ text: String) async throws {
        // The library closes such a connection only at the next event on it.
        var limits = ListenerLimits()
        limits.headerTimeout = .milliseconds(300)
        limits.bodyTimeout = .milliseconds(300)
        let test = try TestListener(limits: limits)
        let connection = try RawConnection(port: test.port)
        // The connection may be closed while we are still sending.
        do { try await connection.send(text) } catch is RawConnection.Failure {}
        #expect(try await connection.receiveToEnd() == [])
        while test.listener.registry.count > 0 { await Task.yield() }
        #expect(test.listener.begunCount == 0)
        #expect(test.handled == 0)
        await test.stop()
    }

    @Test(
        "a connection whose request has too many parameters is closed at once",
        arguments: [(1_000, 0), (12_000, 0), (200, 50_000)])
    func parameters(count: Int, length: Int) async throws {
        // The clock stands still, so no deadline passes.
        let test = try TestListener(clock: ListenerClock())
        let connection = try RawConnection(port: test.port)
        let query =
            String(repeating: "&a", count: count) + String(repeating: "a", count: length)
        try await connection.send("GET /a?\(query) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await connection.receiveToEnd() == [])
        while test.listener.registry.count > 0 { await Task.yield() }
        #expect(test.listener.begunCount == 0)
        #expect(test.handled == 0)
        await test.stop()
    }

    @Test("V-27 no response names the server software or its version")
    func noVersion() async throws {
        let test = try TestListener()
        for text in [
            post("Content-Length: 3"), "GET /a HTTP/9.9\r\n\r\n", "GET /a HTTP/1.1\r\n\r\n",
        ] {
            let connection = try await test.connection(sending: text)
            connection.endSending()
            let said = String(decoding: try await connection.receiveToEnd(), as: UTF8.self)
                .lowercased()
            #expect(!said.contains("server:"))
            #expect(!said.contains("microhttpd"))
        }
        await test.stop()
    }

    @Test("pipelined requests are answered in order")
    func pipelining() async throws {
        let test = try TestListener()
        let connection = try RawConnection(port: test.port)
        var text = ""
        for index in 1...5 { text += "GET /\(index) HTTP/1.1\r\nHost: x\r\n\r\n" }
        try await connection.send(
            text + "GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let said = String(decoding: try await connection.receiveToEnd(), as: UTF8.self)
        let paths = said.split(separator: "GET /").dropFirst().map {
            String($0.prefix { $0 != " " })
        }
        #expect(paths == ["1", "2", "3", "4", "5", "end"])
        await test.stop()
    }

    @Test("a client that expects 100-continue gets this response, unless its body is too large")
    func expectation() async throws {
        let test = try TestListener()
        let connection = try await test.connection(
            sending: post("Content-Length: 3\r\nExpect: 100-continue", ""))
        #expect(try await connection.answer()?.status == 100)
        try await connection.send("abc")
        #expect(try await connection.answer()?.text == "POST /a abc")
        let large = try await test.answer(
            to: post("Content-Length: 65537\r\nExpect: 100-continue", ""))
        #expect(large?.status == 413)
        await test.stop()
    }

    @Test("refused requests leave no open connection or request behind")
    func nothingKept() async throws {
        let test = try TestListener()
        for one in Self.refused + ChunkTests.refused {
            let connection = try await test.connection(sending: one.bytes)
            _ = try await connection.receiveToEnd()
        }
        while test.listener.registry.count > 0 { await Task.yield() }
        #expect(test.listener.begunCount == 0)
        await test.stop()
    }
}
