import TestSupport
import Testing

/// Requests that the listener rejects.
struct RefusalTests {
    @Test("P-01 a request that the listener itself rejects gets a problem response")
    func refusals() async throws {
        let server = try await ServerProcess(ServerProcess.State())
        for (message, status) in [
            ("GET /v1/events HTTP/1.1\r\n\r\n", 400),
            (
                "POST /v1/logins/redeem HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n"
                    + String(repeating: "a", count: 65_537), 413
            ),
            ("GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n", 417),
            (
                "GET / HTTP/1.1\r\nHost: x\r\nA: \(String(repeating: "a", count: 17_000))\r\n\r\n",
                431
            ),
            (
                "POST /v1/logins/redeem HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked \r\n\r\n"
                    + "2\r\n{}\r\n0\r\n\r\n", 411
            ),
        ] {
            let connection = try RawConnection(port: server.port)
            try await connection.send(message)
            let answer = try await connection.answer()
            #expect(answer?.status == status)
            #expect(answer?.headers["content-type"] == "application/problem+json")
            #expect(answer?.headers["cache-control"] == "no-store")
            #expect(answer?.texts["type"]?.hasPrefix("urn:watchword:problem:") == true)
            #expect(answer?.headers["request-id"] != nil)
        }
        // libmicrohttpd's parser rejects these; the connection closes without its error page, and
        // they are counted.
        for message in [
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nA\0: b\r\nC\r\n\r\n",
        ] {
            let connection = try RawConnection(port: server.port)
            try await connection.send(message)
            #expect(try await connection.receiveToEnd() == [])
        }
        let metrics = try await Asker(server.operationsPort).ask("GET", "/metrics")?.text ?? ""
        #expect(
            metrics.contains(
                "{operation=\"none\",status=\"400\",outcome=\"refused-by-library\"} 3\n"))
        try await server.stop()
        let log = try server.logged()
        for (outcome, status) in [
            ("malformed-request", 400), ("body-too-large", 413), ("unknown-expectation", 417),
            ("headers-too-large", 431), ("length-required", 411),
        ] {
            #expect(
                metrics.contains(
                    "{operation=\"none\",status=\"\(status)\",outcome=\"\(outcome)\"} 1\n"),
                "\(outcome)")
            #expect(log.contains("\"outcome\":\"\(outcome)\""), "\(outcome)")
        }
    }
}
