import TestSupport
import Testing
import WatchwordCoding

@testable import HTTPListener

struct StoppingTests {
    private let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("a stopping listener answers requests that have begun to arrive, and accepts no new ones")
    func draining() async throws {
        let gate = Gate()
        let test = try TestListener { _ in
            await gate.pass()
            return HTTPResponse(status: 200, text: "late")
        }
        let slow = try await test.connection(sending: request)
        // A request with an incomplete body has also begun.
        let sending = try await test.connection(
            sending: "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
        while test.listener.begunCount < 2 { await Task.yield() }
        let stopping = Task { await test.listener.stop(grace: .seconds(60)) }
        while !test.listener.isDraining { await Task.yield() }
        // The listening socket is closed at the beginning of the stop; connections in its queue are
        // reset.
        while (try? RawConnection(port: test.port)) != nil { await Task.yield() }
        try await sending.send("bc")
        await gate.open()
        #expect(try await slow.answer()?.text == "late")
        let answer = try await sending.answer()
        #expect(answer?.text == "late")
        #expect(answer?.headers["connection"]?.lowercased() == "close")
        #expect(await stopping.value)
    }

    @Test("a stop reports that the grace period has expired, and the request is still answered")
    func graceOver() async throws {
        let gate = Gate()
        let test = try TestListener { _ in
            await gate.pass()
            return HTTPResponse(status: 200)
        }
        let slow = try await test.connection(sending: request)
        while test.handled == 0 { await Task.yield() }
        #expect(await test.listener.stop(grace: .zero) == false)
        await gate.open()
        #expect(try await slow.answer()?.status == 200)
    }

    @Test("idle connections do not delay a stop")
    func idle() async throws {
        let test = try TestListener()
        let connection = try await test.connection(sending: request)
        #expect(try await connection.answer()?.status == 200)
        #expect(await test.listener.stop(grace: .seconds(60)))
        #expect(try await connection.receive() == [])
    }

    @Test("a client may disconnect while it waits for a response")
    func gone() async throws {
        let gate = Gate()
        let test = try TestListener { _ in
            await gate.pass()
            return HTTPResponse(status: 200)
        }
        do {
            let connection = try await test.connection(sending: request)
            while test.handled == 0 { await Task.yield() }
            withExtendedLifetime(connection) {}
        }
        await gate.open()
        #expect(await test.listener.stop(grace: .seconds(60)))
    }

    @Test("a port in use is reported as a failure of bind")
    func taken() async throws {
        let test = try TestListener()
        #expect(throws: ListenerFailure.system(call: "bind", number: 98)) {
            try TestListener(on: "127.0.0.1:\(test.port)")
        }
        await test.stop()
    }

    @Test(
        "the listener accepts IPv6 connections",
        .enabled(if: LoopbackSocket.hasVersion6, "this machine has no ::1"))
    func version6() async throws {
        let test = try TestListener(on: "[::1]:0")
        let connection = try RawConnection(port: test.port, version6: true)
        try await connection.send(request)
        #expect(try await connection.answer()?.headers["x-peer"] == "::1")
        await test.stop()
    }
}
