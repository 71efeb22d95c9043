import Synchronization
import TestSupport
import Testing
import WatchwordCoding

@testable import HTTPListener

struct LimitsTests {
    private func post(_ count: Int) -> [UInt8] {
        Array("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \(count)\r\n\r\n".utf8)
            + [UInt8](repeating: UInt8(ascii: "a"), count: count)
    }

    @Test("P-04 a body of 64 KiB is accepted, and a larger one is refused")
    func body() async throws {
        let test = try TestListener()
        let largest = try await test.answer(to: post(64 << 10))
        #expect(largest?.status == 200)
        #expect(largest?.body.count == "POST /a ".utf8.count + (64 << 10))
        #expect(try await test.answer(to: post((64 << 10) + 1))?.status == 413)
        #expect(try await test.answer(to: post(1 << 19))?.status == 413)
        #expect(test.handled == 1)
        await test.stop()
    }

    @Test("an endless body is cut off")
    func endless() async throws {
        let test = try TestListener()
        let connection = try RawConnection(port: test.port)
        try await connection.send(
            "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        let part =
            Array("1000\r\n".utf8) + [UInt8](repeating: 0x61, count: 4096) + Array("\r\n".utf8)
        await #expect(throws: RawConnection.Failure.self) {
            for _ in 0..<100_000 { try await connection.send(part) }
        }
        #expect(test.handled == 0)
        await test.stop()
    }

    @Test(
        "headers at the limit are accepted, and longer ones are refused",
        arguments: [0, 1, 100, 300_000])
    func headers(over: Int) async throws {
        let test = try TestListener()
        let head = "GET /a HTTP/1.1\r\nHost: x\r\nX-A: "
        let room = test.listener.limits.headers - head.utf8.count - 4
        let connection = try RawConnection(port: test.port)
        // If the headers are far too large, the connection may end while we are still sending.
        do {
            try await connection.send(
                head + String(repeating: "a", count: room + over) + "\r\n\r\n")
        } catch {
            #expect(over > 100)
        }
        let answer = try await connection.answer()
        if over == 300_000, answer == nil { return await test.stop() }
        #expect(answer?.status == (over == 0 ? 200 : 431))
        #expect(test.handled == (over == 0 ? 1 : 0))
        await test.stop()
    }

    private var shortTimeouts: ListenerLimits {
        var limits = ListenerLimits()
        limits.headerTimeout = .milliseconds(300)
        limits.bodyTimeout = .milliseconds(300)
        limits.responseTimeout = .milliseconds(300)
        return limits
    }

    @Test(
        "a client that sends a byte at a time is cut off",
        arguments: [
            "GET /a HTTP/1.1\r\nHost: x\r\nX-A: ",
            "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n",
            "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n", "",
        ])
    func dripping(_ beginning: String) async throws {
        let test = try TestListener(limits: shortTimeouts)
        let connection = try await test.connection(sending: beginning)
        // Without the limit, the request would continue for minutes: each byte restarts
        // libmicrohttpd's own timeout.
        var sent = 0
        do {
            while sent < 10_000 {
                try await connection.send("a")
                sent += 1
                try await Task.sleep(for: .milliseconds(20))
            }
        } catch is RawConnection.Failure {}
        #expect(sent < 10_000)
        #expect(test.handled == 0)
        await test.stop()
    }

    @Test("an idle connection is closed")
    func idle() async throws {
        let test = try TestListener(limits: shortTimeouts)
        let connection = try await test.connection(sending: "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await connection.answer()?.status == 200)
        #expect(try await connection.receive() == [])
        await test.stop()
    }

    @Test("a client that does not read its response is cut off")
    func deaf() async throws {
        let large = String(repeating: "a", count: 64 << 20)
        let test = try TestListener(limits: shortTimeouts) { _ in
            HTTPResponse(status: 200, text: large)
        }
        let connection = try await test.connection(sending: "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        while test.handled == 0 || test.listener.registry.count > 0 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try await connection.receiveToEnd().count < large.utf8.count)
        await test.stop()
    }

    @Test("a client is not cut off while the handler works")
    func timeout() async throws {
        let gate = Gate()
        let test = try TestListener(limits: shortTimeouts) { _ in
            await gate.pass()
            return HTTPResponse(status: 204)
        }
        let connection = try await test.connection(sending: "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        while test.handled == 0 { await Task.yield() }
        // The clock moves by an hour, which is longer than any client's limit.
        test.listener.registry.cutOff(at: .now + .seconds(3600))
        await gate.open()
        #expect(try await connection.answer()?.status == 204)
        await test.stop()
    }

    @Test("connections are limited per address, and other addresses are not affected")
    func perAddress() async throws {
        var limits = ListenerLimits()
        limits.connectionsPerAddress = 3
        let test = try TestListener(limits: limits)
        let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
        var open: [RawConnection] = []
        for _ in 1...3 {
            let connection = try await test.connection(sending: request)
            #expect(try await connection.answer()?.status == 200)
            open.append(connection)
        }
        let fourth = try RawConnection(port: test.port)
        // The connection may be closed before the request is sent.
        do { try await fourth.send(request) } catch is RawConnection.Failure {}
        #expect(try await fourth.receive() == [])
        let other = try RawConnection(port: test.port, from: "127.0.0.2")
        try await other.send(request)
        #expect(try await other.answer()?.headers["x-peer"] == "127.0.0.2")
        open.removeLast()
        // The next connection is accepted once the listener has noticed the end of an earlier one.
        while test.listener.registry.count > 3 { await Task.yield() }
        let next = try await test.connection(sending: request)
        #expect(try await next.answer()?.status == 200)
        await test.stop()
    }

    func peer(_ site: UInt8, network: UInt8 = 0) -> PeerAddress {
        PeerAddress(text: "\(site)", origin: [site, network], site: [site])
    }

    func record(_ peer: PeerAddress = .unknown, hasRequest: Bool = false)
        -> ConnectionRecord
    {
        let record = ConnectionRecord(
            socket: -1, peer: peer, life: ConnectionLife(until: .now + .seconds(3600), Retirement())
        )
        if hasRequest { record.begin(ConnectionExchange(target: [])) }
        return record
    }

    /// The records of the replaced connections: their deadlines no longer apply.
    func replaced(_ records: [ConnectionRecord]) -> [Int] {
        records.indices.filter { records[$0].deadline.load(ordering: .relaxed) == .max }
    }

    /// The limits of the next tests, which permit 15 connections, 12 of them for strangers.
    private var fewConnections: ListenerLimits {
        var limits = ListenerLimits()
        limits.connections = 16
        limits.connectionsPerAddress = 4
        limits.headerTimeout = .seconds(600)
        return limits
    }

    @Test(
        "silent connections from several addresses do not prevent other clients from being served")
    func silent() async throws {
        let test = try TestListener(limits: fewConnections)
        let silent = try (0..<20).map { number in
            try RawConnection(port: test.port, from: "127.0.0.\(2 + number % 5)")
        }
        for _ in 1...12 {
            let client = try await test.connection(sending: "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await client.answer()?.status == 200)
        }
        #expect(test.listener.registry.count <= 16)
        withExtendedLifetime(silent) {}
        await test.stop()
    }

    @Test("a quarter of the limit is reserved for addresses that sent authenticated requests")
    func share() async throws {
        let gate = Gate()
        let test = try TestListener(limits: fewConnections) { request in
            if request.target == "/wait" { await gate.pass() }
            let nothing = HTTPResponse(status: 204).body
            return HTTPResponse(
                status: 204, body: nothing, isAuthenticated: request.target == "/key")
        }
        func connect(
            _ target: String, from address: String = "127.0.0.1"
        ) async throws -> RawConnection {
            let connection = try RawConnection(port: test.port, from: address)
            do {
                try await connection.send("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
            } catch is RawConnection.Failure {}
            return connection
        }
        let application = try await connect("/key")
        #expect(try await application.answer()?.status == 204)
        var strangers: [RawConnection] = []
        for number in 0..<12 {
            strangers.append(try await connect("/wait", from: "127.0.0.\(2 + number % 4)"))
            while test.handled < number + 2 { await Task.yield() }
        }
        // The handler is working on their requests, so none of them is replaced.
        let refused = try await connect("/wait", from: "127.0.0.9")
        #expect(try await refused.receive() == [])
        for target in ["/a", "/key", "/a"] {
            #expect(try await connect(target).answer()?.status == 204)
        }
        await gate.open()
        for connection in strangers { #expect(try await connection.answer()?.status == 204) }
        await test.stop()
    }
}
