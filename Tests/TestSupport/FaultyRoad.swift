internal import Foundation
internal import Synchronization

/// A road between clients and a server of this machine on which things go wrong as a test says.
///
/// Bytes are passed on as they are, TLS or not. Each connection takes the next fault; without one nothing
/// goes wrong.
public final class FaultyRoad: Sendable {
    /// What goes wrong with one connection.
    public struct Fault: Sendable {
        /// How many bytes of the client's get through before the road breaks; all of them when not given.
        public var requestLimit: Int?
        /// How many bytes of the server's get through before the road breaks.
        public var replyLimit: Int?
        /// What is sent is kept, and gets through when ``FaultyRoad/releaseHeld()`` says so; the road breaks.
        public var isHeld = false
        /// What was sent is sent once more when the connection is over.
        public var isDoubled = false
        /// What happens at the moment when a limit is reached, before the road breaks.
        public var atLimit: @Sendable () -> Void = {}
        /// What happens when the connection is over.
        public var atEnd: @Sendable () -> Void = {}

        /// Nothing goes wrong until something is set.
        public init() {}

        /// Whether everything gets through, once.
        var isHarmless: Bool {
            requestLimit == nil && replyLimit == nil && !isHeld && !isDoubled
        }
    }

    private struct State {
        var target: UInt16
        var faults: [Fault] = []
        var held: [[UInt8]] = []
        /// Bytes that got through on the last connection without a fault.
        var lastRequest = 0
        var lastReply = 0
        var isOver = false
    }

    /// The port that clients connect to, on this machine.
    public let port: UInt16
    private let listening: LoopbackSocket
    private let state: Mutex<State>

    /// Opens a road to `target`, a port of this machine.
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

    /// Leads to another port from the next connection on.
    public func lead(to target: UInt16) { state.withLock { $0.target = target } }

    /// The faults of the next connections; those that wait are forgotten.
    public func expect(_ faults: [Fault]) { state.withLock { $0.faults = faults } }

    /// Bytes of both sides on the last connection that went through without a fault, and that is over: its
    /// client may have its answer a moment before that.
    public var lastLengths: (request: Int, reply: Int) {
        state.withLock { ($0.lastRequest, $0.lastReply) }
    }

    /// Lets through what was held, in any order, and waits for its answers, which nobody gets.
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

    /// Nothing when nobody is there, or no socket can be had.
    private func connected(to port: UInt16) -> LoopbackSocket? {
        do { return try LoopbackSocket.connected(to: port) } catch { return nil }
    }

    private func carry(_ client: LoopbackSocket) {
        let (fault, target) = state.withLock { state in
            (state.faults.isEmpty ? nil : state.faults.removeFirst(), state.target)
        }
        defer { fault?.atEnd() }
        if fault?.isHeld == true {
            // A whole request is one that nothing follows for a moment; a shorter one is as good a fault.
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

    /// Passes bytes on until one side ends it, or a limit is reached.
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
