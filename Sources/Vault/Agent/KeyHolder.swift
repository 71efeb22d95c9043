internal import ProcessConfinement
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// The process that holds the keys.
///
/// The ``Supervisor`` starts it with a socket to the supervisor as its standard input and output,
/// and with the folders of the vaults as its arguments.
enum KeyHolder {
    /// The first argument of the process in a user agent.
    static let argument = "--hold-keys"
    /// The first argument in the system agent; the state folder, with one subfolder for each user,
    /// follows.
    static let systemArgument = "--hold-keys-of-users"
    /// The supervisor's request to lock all vaults.
    static let lockAll: UInt8 = 2
    /// The supervisor's request to lock the vaults of a user, whose ID follows (``UserNumber``).
    static let lockUser: UInt8 = 3
    /// A sign of life that the supervisor sends regularly; it has no response.
    ///
    /// If the supervisor is stopped, this process notices the silence and locks the vaults itself.
    static let alive: UInt8 = 5
    /// The response to both requests to lock.
    static let locked: UInt8 = 4
    static let identity = HelperGreeting.Identity(mark: "watchword-agent", version: 1)

    /// Confines this process, and serves clients until the supervisor ends or a client asks it to
    /// stop.
    static func run(_ mode: AgentMode, _ memory: KeyMemory, _ timing: AgentTiming) -> Never {
        do throws(SystemCallFailure) {
            try serve(mode, memory, timing)
            ProcessEnd.atOnce(with: 0)
        } catch {
            // No process is left to which this could be reported.
            ProcessEnd.atOnce(with: 6)
        }
    }

    private static func serve(
        _ mode: AgentMode, _ memory: KeyMemory, _ timing: AgentTiming
    ) throws(SystemCallFailure) {
        try ProcessHardening.apply()
        // Both standard streams are the socket to the supervisor.
        let supervisor = FileDescriptor(owning: StandardStream.input.rawValue)
        guard let listener = try supervisor.receiveFile()?.takeFile(),
            let helpers = try supervisor.receiveFile()?.takeFile()
        else { return }
        // Each connection, and each file of a request, needs a descriptor.
        _ = try OpenFileLimit.raise(to: 1024)
        // Open all files that the service needs before the sandbox forbids it.
        let signals = try SignalQueue([.terminate, .hangUp, .interrupt, .quit])
        let stop = try WakeSignal()
        let news = try WakeSignal()
        let reach = Set(mode.folders.compactMap(FolderReach.identity))
        let limitsFiles: Bool
        do {
            try ProcessHardening.requireNoTracer()
            let reached = mode.folders + [mode.deviceKeys].compactMap { $0 }
            limitsFiles = try confine(to: reached) && !reached.contains("/")
        } catch {
            try HelperGreeting.frame(from: identity, failure: error).write(to: supervisor)
            return
        }
        try HelperGreeting.frame(from: identity).write(to: supervisor)
        let vaults = HeldVaults(
            memory, largestTotal: mode.largestTotal, clock: timing.clock, wake: news.send)
        let service = AgentServices(
            vaults: vaults, reach: .folders(reach), limitsFiles: limitsFiles,
            helpers: HelperChannel(helpers), stop: stop, folders: mode.folders,
            folderOfDeviceKeys: mode.deviceKeys, deviceTimeout: timing.deviceTimeout)
        let connections = Connections(limit: mode.mostClients)
        var silence = Moment.now + longestSilence
        while true {
            let next = vaults.dropExpired()
            // A suspend is noticed only when this process wakes up.
            let timeout = next.map { max(min($0, .seconds(10)), .milliseconds(1)) }
            let ready = try signals.wait(
                for: [.reading(listener), .reading(supervisor), stop.readable, news.readable],
                timeout: timeout)
            if try signals.next() != nil || ready[2] { break }
            if ready[1] {
                guard try carryOutRequest(of: supervisor, mode, vaults, connections) else { break }
                silence = .now + longestSilence
            } else if silence.timeRemaining <= .zero {
                vaults.lockAll()
            }
            // A vault was added whose time may be shorter than this wait.
            if ready[3] { try news.clear() }
            if ready[0], !accept(from: listener, connections, service, mode) {
                // The connection is still waiting, so the next wait would end at once.
                try signals.wait(timeout: pause)
            }
        }
        vaults.close()
        // Requests that have begun are still answered, above all those that save the vault.
        try connections.waitForAnswers(atMost: endTimeout)
    }

    /// Reads a request of the supervisor, and carries it out.
    ///
    /// - Returns: `false` if the supervisor has ended, or sends an unknown request.
    private static func carryOutRequest(
        of supervisor: borrowing FileDescriptor, _ mode: AgentMode, _ vaults: HeldVaults,
        _ connections: Connections
    ) throws(SystemCallFailure) -> Bool {
        switch try supervisor.receiveFile()?.byte {
        case alive: return true
        case lockAll:
            vaults.lockAll()
            // Requests that have begun still use their keys.
            try connections.waitForAnswers(atMost: releaseTimeout)
        case lockUser:
            guard let user = try UserNumber.read(from: supervisor),
                case .account(let account) = mode.reach(of: user)
            else { return false }
            if let place = account.place() { vaults.lockAll(in: place.folder) }
        default: return false
        }
        try supervisor.send(locked)
        return true
    }

    /// How long the supervisor may be silent before all vaults are locked.
    private static let longestSilence = Supervisor.checkInterval * 3
    /// How long to wait for descriptors or memory.
    private static let pause = Duration.milliseconds(100)
    private static let endTimeout = Duration.seconds(2)
    /// Must be shorter than the time for which the login manager lets a program delay sleep.
    private static let releaseTimeout = Duration.seconds(2)

    private static func confine(to folders: [String]) throws(SystemCallFailure) -> Bool {
        do {
            try prepareConfinedCryptography()
        } catch {
            throw SystemCallFailure(
                call: "OPENSSL_init_crypto", number: Int32(clamping: error.code))
        }
        return try Confinement.enterAsKeyHolder(folders: folders)
    }

    /// The number of connections to accept before other tasks get their turn.
    private static let mostAtOnce = 1024

    /// Accepts the connections that wait, and serves each on a separate thread.
    ///
    /// The system agent closes the connections of a user that exceed its limit, except those with
    /// requests that are always answered, such as to lock a vault: a user who connects very often
    /// must not delay others.
    ///
    /// - Returns: `false` if descriptors or memory are exhausted.
    private static func accept(
        from listener: borrowing FileDescriptor, _ connections: Connections,
        _ service: AgentServices, _ mode: AgentMode
    ) -> Bool {
        var accepted: [UInt32: Int] = [:]
        for _ in 0..<mostAtOnce {
            let connection: FrameConnection
            do throws(SystemCallFailure) {
                connection = FrameConnection(try LocalSocket.accept(from: listener))
            } catch {
                guard !error.isNoConnection else { return true }
                lockWithoutResources(service, mode)
                return false
            }
            // The client may already have gone.
            guard let peer = ifPossible(try connection.peer()) else { continue }
            // Root can connect to every socket, but a user agent serves only its own user.
            if case .user = mode, !peer.isThisUser { continue }
            let service = service.reaching(mode.reach(of: peer.user) ?? service.reach)
            let count = accepted[peer.user, default: 0]
            if case .system = mode, count >= Connections.limitPerUser {
                guard count < 2 * Connections.limitPerUser, connection.hasReceived else {
                    continue
                }
                answerAtOnce(connection, service)
            } else {
                serve(connection, from: peer, connections, service, mode)
            }
            accepted[peer.user] = count + 1
        }
        return true
    }

    /// Locks all vaults of a user agent that cannot serve the clients that its limits allow.
    ///
    /// Another program of the user may have lowered the limits of this process, so that clients
    /// cannot lock its vaults.
    ///
    /// - Returns: whether the vaults were locked; users cannot lower the limits of the system
    ///   agent.
    @discardableResult
    private static func lockWithoutResources(
        _ service: AgentServices, _ mode: AgentMode
    ) -> Bool {
        guard case .user = mode else { return false }
        service.vaults.lockAll()
        return true
    }

    private static func serve(
        _ connection: FrameConnection, from peer: LocalSocket.Peer, _ connections: Connections,
        _ service: AgentServices, _ mode: AgentMode
    ) {
        guard let number = connections.add(connection, from: peer) else {
            return answerAtOnce(connection, service)
        }
        let client = ClientConnection(connection, connections.member(number), service)
        let thread = WorkerThread {
            client.serve()
            connections.remove(number)
        }
        guard let thread else {
            connections.remove(number)
            let isLocked = lockWithoutResources(service, mode)
            return answerAtOnce(connection, service, timeout: isLocked ? .seconds(1) : .zero)
        }
        thread.detach()
    }

    /// Answers, without a thread, a request that is always answered; refuses any other.
    ///
    /// - Parameter timeout: how long to wait for the request.
    static func answerAtOnce(
        _ connection: FrameConnection, _ service: AgentServices, timeout: Duration = .zero
    ) {
        let nobody = Connections.Member(number: .max, isReserved: true, isWanted: { false })
        ClientConnection(connection, nobody, service, firstTimeout: timeout).serve()
    }
}

extension KeyHolder {
    private static let startTimeout = Duration.seconds(10)

    /// In the supervisor: waits until the key holder is confined.
    static func awaitGreeting(of child: ChildProcess) throws(SystemCallFailure) {
        var incoming = try IncomingFrame(limit: HelperGreeting.maximumCount)
        let deadline = Moment.now + startTimeout
        while deadline.timeRemaining > .zero {
            switch try incoming.advance(from: child.output) {
            case .complete(let frame):
                switch frame.withBytes({ HelperGreeting(parsing: $0, from: identity) }) {
                case .confined: return
                case .notConfined(let failure): throw failure
                case .unexpected: throw SystemCallFailure(call: "read", number: 71)
                }
            case .ended, .bad: throw SystemCallFailure(call: "read", number: 32)
            case .wouldWait:
                _ = try Polling.wait(
                    for: [.reading(child.output)], timeout: deadline.timeRemaining)
            }
        }
        throw SystemCallFailure(call: "read", number: 110)
    }
}

/// Identifies the folders of the vaults that the agent can reach.
enum FolderReach {
    /// The identity of the folder at `path`; `nil` if it does not exist.
    static func identity(of path: String) -> FolderIdentity? {
        ifPossible(try FolderIdentity(at: path))
    }
}

/// Lets any thread wake the thread that waits for connections.
final class WakeSignal: Sendable {
    private let pair: SocketPair

    init() throws(SystemCallFailure) { pair = try SocketPair() }

    var readable: Polling.Interest { .reading(pair.first) }

    func send() {
        // This fails only if the service is already ending.
        _ = ifPossible(try pair.second.send(1))
    }

    /// Takes one signal, after ``readable`` has become ready.
    func clear() throws(SystemCallFailure) { _ = try pair.first.receiveFile() }
}
