internal import Foundation
internal import Synchronization

/// A proxy between clients and a server on this machine that injects the faults a test asks for.
///
/// It forwards bytes unchanged, TLS or not. Each connection uses the next fault in the list; once
/// the list is empty, connections work normally.
public final class FaultInjectingProxy: Sendable {
    /// The fault for one connection.
    public struct Fault: Sendable {
        /// The number of bytes from the client to forward before the connection breaks; `nil`
        /// forwards all.
        public var requestLimit: Int?
        /// The number of bytes from the server to forward before the connection breaks; `nil`
        /// forwards all.
        public var replyLimit: Int?
        /// Whether to hold the request until ``FaultInjectingProxy/releaseHeld()``, and break the
        /// connection.
        public var isHeld = false
        /// Whether to send the request a second time after the connection ends.
        public var isDoubled = false
        /// Called when a limit is reached, before the connection breaks.
        public var atLimit: @Sendable () -> Void = {}
        /// Called when the connection has ended.
        public var atEnd: @Sendable () -> Void = {}

        /// Starts with a fault that does nothing until one of its properties is set.
        public init() {}

        /// Whether everything is forwarded exactly once.
        var isHarmless: Bool {
            requestLimit == nil && replyLimit == nil && !isHeld && !isDoubled
        }
    }

    private struct State {
        var target: UInt16
        var faults: [Fault] = []
        var held: [[UInt8]] = []
        /// The number of bytes forwarded on the last connection without a fault.
        var lastRequest = 0
        var lastReply = 0
        var isOver = false
    }

    /// The port on 127.0.0.1 that clients connect to.
    public let port: UInt16
    private let listening: LoopbackSocket
    private let state: Mutex<State>

    /// Starts a proxy for `target`, a port on this machine.
    public init(to target: UInt16) throws {
        listening = try LoopbackSocket.listening()
        port = listening.port
        state = Mutex(State(target: target))
        Thread.detachNewThread { [weak self, listening] in
            while let client = listening.accepted() {
                guard let self else { return }
                Thread.detachNewThread { self.carry(client) }
            }
        }
    }

    deinit { listening.end() }

    /// Forwards to another port from the next connection on.
    public func lead(to target: UInt16) { state.withLock { $0.target = target } }

    /// Sets the faults of the next connections, replacing any that are still unused.
    public func expect(_ faults: [Fault]) { state.withLock { $0.faults = faults } }

    /// The number of bytes in each direction on the last finished connection without a fault.
    ///
    /// The client may receive its response shortly before the connection counts as finished.
    public var lastLengths: (request: Int, reply: Int) {
        state.withLock { ($0.lastRequest, $0.lastReply) }
    }

    /// Sends the held requests in random order and waits for the responses, which are discarded.
    public func releaseHeld() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held.shuffled()
        }
        for request in held { repeatNow(request) }
    }

    private func repeatNow(_ request: [UInt8]) {
        guard let server = connected(to: state.withLock { $0.target }) else { return }
        guard server.send(request[...]) else { return }
        server.endSending()
        while server.receive() != nil {}
    }

    /// Returns `nil` if nothing is listening on the port or no socket is available.
    private func connected(to port: UInt16) -> LoopbackSocket? {
        do { return try LoopbackSocket.connected(to: port) } catch { return nil }
    }

    private func carry(_ client: LoopbackSocket) {
        let (fault, target) = state.withLock { state in
            (state.faults.isEmpty ? nil : state.faults.removeFirst(), state.target)
        }
        defer { fault?.atEnd() }
        if fault?.isHeld == true {
            // A request counts as complete when no bytes follow it for a moment. A truncated
            // request is an equally useful fault.
            var request: [UInt8] = []
            while client.isReadable(within: request.isEmpty ? 5_000 : 50),
                let part = client.receive()
            { request += part }
            state.withLock { $0.held.append(request) }
            return
        }
        guard let server = connected(to: target) else { return }
        let (request, replied) = pass(client, server, fault)
        if fault?.isDoubled == true { repeatNow(request) }
        guard fault?.isHarmless != false else { return }
        state.withLock { ($0.lastRequest, $0.lastReply) = (request.count, replied) }
    }

    /// Forwards bytes until one side closes the connection or a limit is reached.
    private func pass(
        _ client: LoopbackSocket, _ server: LoopbackSocket, _ fault: Fault?
    ) -> (request: [UInt8], replied: Int) {
        var request: [UInt8] = []
        var replied = 0
        while let ready = LoopbackSocket.readable(client, server) {
            let (source, sink) = ready === client ? (client, server) : (server, client)
            guard let part = source.receive() else { break }
            let limit = ready === client ? fault?.requestLimit : fault?.replyLimit
            let room = limit.map { $0 - (ready === client ? request.count : replied) } ?? .max
            let passed = part.prefix(max(room, 0))
            if ready === client { request += passed } else { replied += passed.count }
            guard sink.send(passed) else { break }
            if part.count >= room {
                fault?.atLimit()
                break
            }
        }
        return (request, replied)
    }
}
