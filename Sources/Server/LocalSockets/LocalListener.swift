internal import Synchronization
internal import WatchwordCryptography
package import WatchwordSystem

/// Accepts connections of this machine's processes and receives their requests, on one thread; each
/// request is answered in its own task.
package final class LocalListener: Sendable {
    private let waking: Waking
    private let thread = Mutex<WorkerThread?>(nil)
    /// When the requests of accepted connections stop being received; `nil` until the listener
    /// stops.
    private let lastRequest = Mutex<Moment?>(nil)
    /// The number of requests that have not been answered yet.
    private let begun = Mutex(0)

    /// The maximum number of connections that are accepted before the requests of others are read.
    private static let batch = 64
    /// How long a client may take to send its request when the listener stops; clients normally
    /// send the request at once.
    private static let lastRequests = Duration.seconds(2)
    /// The pause after a connection could not be accepted, for example because too many files are
    /// open.
    private static let rest = Duration.milliseconds(50)

    /// Starts accepting connections; returns `nil` if the system cannot create a thread.
    ///
    /// Call ``stop(grace:)`` in the end.
    package static func start(
        _ entrances: [LocalEntrance]
    ) throws(SystemCallFailure) -> LocalListener? {
        let listener = LocalListener(try Waking())
        // The thread owns the sockets.
        guard let thread = WorkerThread({ listener.run(entrances) }) else { return nil }
        listener.thread.withLock { $0 = thread }
        return listener
    }

    /// Whether ``stop(grace:)`` was called.
    var isStopping: Bool { lastRequest.withLock { $0 != nil } }

    private init(_ waking: Waking) { self.waking = waking }

    /// Stops accepting connections, completes the responses to accepted connections, and closes the
    /// sockets.
    ///
    /// - Parameter grace: how long these responses may still take; the requests may take at most
    ///   two seconds of this time.
    /// - Returns: whether all requests that arrived were answered.
    package func stop(grace: Duration) async -> Bool {
        lastRequest.withLock { $0 = .now + min(grace, Self.lastRequests) }
        waking.wake()
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ending?.join()
        let end = ContinuousClock.now + grace
        while begun.withLock({ $0 }) > 0, .now < end {
            do { try await Task.sleep(for: .milliseconds(5)) } catch { break }
        }
        return begun.withLock { $0 } == 0
    }

    private func run(_ entrances: [LocalEntrance]) {
        var incoming: [IncomingRequest] = []
        while true {
            let end = lastRequest.withLock { $0 }
            if let end, incoming.isEmpty || end.timeRemaining == .zero { return }
            let open = end == nil ? entrances.filter(\.occupancy.hasRoom) : []
            let interests =
                [waking.readable] + open.map { .reading($0.endpoint.file) }
                + incoming.map { .reading($0.connection.file) }
            let timeout = (incoming.map(\.deadline) + [end].compactMap { $0 }).min()?.timeRemaining
            guard let ready = ifPossible(try Polling.ready(of: interests, timeout: timeout)) else {
                Self.pause()
                continue
            }
            if ready[0] { waking.clear() }
            incoming = zip(incoming, ready.dropFirst(1 + open.count)).compactMap {
                request, isReady in isReady ? advance(request) : request.unlessOverdue
            }
            for (entrance, isReady) in zip(open, ready.dropFirst()) where isReady {
                accept(from: entrance, into: &incoming)
            }
        }
    }

    private static func pause() { _ = ifPossible(try Polling.wait(for: [], timeout: rest)) }

    private func accept(from entrance: LocalEntrance, into incoming: inout [IncomingRequest]) {
        for _ in 0..<Self.batch where entrance.occupancy.hasRoom {
            do throws(SystemCallFailure) {
                let file = try LocalSocket.accept(from: entrance.endpoint.file)
                let peer = try LocalSocket.peer(of: file)
                guard entrance.admits(peer) else {
                    entrance.noteClosed(.foreignUser)
                    continue
                }
                switch entrance.use {
                case .conversation(let receiver): receiver(file, peer)
                case .exchange(let limits, let responder):
                    guard entrance.occupancy.enter(peer.user) else {
                        entrance.noteClosed(.tooMany)
                        continue
                    }
                    let connection = ExchangeConnection(file, peer, entrance.occupancy, waking)
                    let request = try IncomingRequest(connection, limits, responder)
                    if let request = advance(request) { incoming.append(request) }
                }
            } catch {
                guard !error.isNoConnection else { return }
                return Self.pause()
            }
        }
    }

    /// Receives the available bytes, and answers a complete request.
    ///
    /// - Returns: the request if it is incomplete.
    private func advance(_ request: IncomingRequest) -> IncomingRequest? {
        switch request.receive() {
        case .incomplete: return request.unlessOverdue
        case .over: return nil
        case .complete:
            begun.withLock { $0 += 1 }
            let (connection, bytes, responder) = (
                request.connection, request.bytes, request.responder
            )
            Task.detached {
                if let response = await responder(bytes, connection.peer) {
                    connection.send(response)
                }
                self.begun.withLock { $0 -= 1 }
            }
            return nil
        }
    }
}

/// Wakes a thread that waits for descriptors.
private final class Waking: Sendable {
    private let ends: SocketPair

    init() throws(SystemCallFailure) {
        ends = try SocketPair()
        try ends.first.setBlocking(false)
        try ends.second.setBlocking(false)
    }

    /// Becomes ready when the thread is woken.
    var readable: Polling.Interest { .reading(ends.second) }

    /// Wakes the thread.
    ///
    /// If the write fails, enough earlier wake-ups are still pending.
    func wake() {
        let byte: [UInt8] = [0]
        _ = ifPossible(try ends.first.writeAvailable(byte.span))
    }

    /// Discards the pending wake-ups.
    func clear() {
        _ = ifPossible(
            try [UInt8](capacity: 64) { output throws(SystemCallFailure) in
                _ = try ends.second.readAvailable(into: &output)
            })
    }
}

/// A connection, which is counted until the last reference is released.
private final class ExchangeConnection: Sendable {
    let file: FileDescriptor
    let peer: LocalSocket.Peer
    private let occupancy: Occupancy
    private let waking: Waking

    init(
        _ file: consuming FileDescriptor, _ peer: LocalSocket.Peer, _ occupancy: Occupancy,
        _ waking: Waking
    ) {
        self.file = file
        self.peer = peer
        self.occupancy = occupancy
        self.waking = waking
    }

    deinit { if occupancy.leave(peer.user) { waking.wake() } }

    /// Sends a response, which fits into the buffer of an unused connection; a client that has
    /// disconnected gets none.
    func send(_ response: [UInt8]) { _ = ifPossible(try file.writeAvailable(response.span)) }
}

/// A request that is being received.
private struct IncomingRequest {
    let connection: ExchangeConnection
    let deadline: Moment
    let responder: LocalEntrance.Responder
    private let buffer: WipedBuffer
    private let count: Int

    init(
        _ connection: ExchangeConnection, _ limits: ExchangeLimits,
        _ responder: @escaping LocalEntrance.Responder
    ) throws(SystemCallFailure) {
        self.connection = connection
        self.responder = responder
        deadline = .now + limits.requestTimeout
        count = limits.requestCount
        // One byte more than the size of a request.
        buffer = try WipedBuffer(capacity: count + 1)
    }

    /// The result of receiving a part of a request.
    enum Progress {
        /// A complete request, or more bytes than a request has.
        case complete
        case incomplete
        /// The client has disconnected, so a decision could not be reported.
        case over
    }

    func receive() -> Progress {
        while buffer.count <= count {
            let progress = ifPossible(
                try buffer.append { output throws(SystemCallFailure) in
                    try connection.file.readAvailable(into: &output)
                })
            switch progress {
            case .moved?: continue
            case .wouldWait?: return buffer.count < count ? .incomplete : .complete
            case .ended?, nil: return .over
            }
        }
        return .complete
    }

    /// The request; `nil` if its deadline has passed.
    var unlessOverdue: IncomingRequest? { deadline.timeRemaining > .zero ? self : nil }

    /// The bytes that were received.
    var bytes: SecretBytes { buffer.withBytes { SecretBytes(copying: $0) } }
}
