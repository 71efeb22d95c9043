import TestSupport
import Testing
import WatchwordCoding

@testable import HTTPListener

/// The lifetime of a connection, and the effect of a new certificate on the lifetime.
struct LifetimeTests {
    private static let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

    /// Sends a request, and runs `meanwhile` while the handler is working.
    private func ask(
        _ connection: RawConnection, _ test: TestListener, _ gate: Gate,
        meanwhile: () throws -> Void = {}
    ) async throws -> RawConnection.Answer? {
        await gate.close()
        let handled = test.handled
        try await connection.send(Self.request)
        while test.handled == handled { await Task.yield() }
        try meanwhile()
        await gate.open()
        return try await connection.answer()
    }

    private func closes(_ answer: RawConnection.Answer?) -> Bool {
        answer?.headers["connection"]?.lowercased() == "close"
    }

    @Test("a connection closes after the last response that fits within its one-hour lifetime")
    func hour() async throws {
        let (clock, gate) = (ListenerClock(), Gate())
        let test = try TestListener(clock: clock) { _ in
            await gate.pass()
            return HTTPResponse(status: 200)
        }
        let connection = try RawConnection(port: test.port)
        // A request may arrive 15 seconds after the previous response.
        let first = try await ask(connection, test, gate) {
            clock.advance(by: .seconds(3600 - 15) - .milliseconds(1))
        }
        #expect(first?.status == 200)
        #expect(!closes(first))
        let second = try await ask(connection, test, gate) { clock.advance(by: .milliseconds(1)) }
        #expect(second?.status == 200)
        #expect(closes(second))
        #expect(try await connection.receive() == [])
        // A new connection has its own hour.
        let other = try RawConnection(port: test.port)
        #expect(!closes(try await ask(other, test, gate)))
        await test.stop()
    }

    @Test(
        "connections with a replaced certificate last five minutes, and new connections last an hour"
    )
    func replaced() async throws {
        let (clock, gate) = (ListenerClock(), Gate())
        let test = try TestListener(clock: clock) { _ in
            await gate.pass()
            return HTTPResponse(status: 200)
        }
        let old = try RawConnection(port: test.port)
        #expect(!closes(try await ask(old, test, gate)))
        try test.listener.replaceDaemon(tls: nil)
        let new = try RawConnection(port: test.port)
        for connection in [old, new] { #expect(!closes(try await ask(connection, test, gate))) }
        let early = try await ask(old, test, gate) {
            clock.advance(by: .seconds(300 - 15) - .milliseconds(1))
        }
        #expect(!closes(early))
        let late = try await ask(old, test, gate) { clock.advance(by: .milliseconds(1)) }
        #expect(closes(late))
        #expect(try await old.receive() == [])
        #expect(!closes(try await ask(try RawConnection(port: test.port), test, gate)))
        await test.stop()
    }

    @Test("a reload refused because of too many old certificates closes the oldest connections")
    func held() async throws {
        let (clock, gate) = (ListenerClock(), Gate())
        let test = try TestListener(clock: clock) { _ in
            await gate.pass()
            return HTTPResponse(status: 200)
        }
        var held: [RawConnection] = []
        for _ in 0..<16 {
            let connection = try RawConnection(port: test.port)
            #expect(!closes(try await ask(connection, test, gate)))
            held.append(connection)
            try test.listener.replaceDaemon(tls: nil)
        }
        #expect(test.listener.daemonCount == 17)
        #expect(throws: ListenerFailure.earlierCertificatesInUse(16)) {
            try test.listener.replaceDaemon(tls: nil)
        }
        for (index, connection) in held.enumerated() {
            #expect(closes(try await ask(connection, test, gate)) == (index < 8))
        }
        while test.listener.registry.count > 8 { await Task.yield() }
        clock.advance(by: .seconds(1))
        while test.listener.daemonCount > 9 { await Task.yield() }
        try test.listener.replaceDaemon(tls: nil)
        #expect(test.listener.daemonCount == 10)
        await test.stop()
    }

    @Test("a stopping daemon admits no request, and a daemon that handles a request does not stop")
    func gate() {
        let gate = HandlerGate()
        #expect(gate.enter())
        #expect(!gate.close())
        #expect(gate.enter())
        gate.leave()
        gate.leave()
        #expect(gate.close())
        #expect(!gate.enter())
        #expect(gate.close())
    }
}
