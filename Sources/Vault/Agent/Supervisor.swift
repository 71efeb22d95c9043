internal import ProcessConfinement
internal import VaultService
internal import WatchwordSystem

/// The process that starts the key holder, and the programs that the key holder's sandbox forbids
/// it to start.
///
/// The supervisor never sees a key or a client's data.
struct Supervisor: ~Copyable {
    private let mode: AgentMode
    private let endpoint: AgentEndpoint
    private let signals: SignalQueue
    private let keyHolder: ChildProcess
    /// The supervisor's end of the connection on which the key holder asks for programs.
    private let requests: FileDescriptor
    private var programs: [StartedProgram] = []
    private var login = LoginWatch()
    /// The vaults that the key holder must still be asked to lock.
    private var vaultsToLock = LoginWatch.Scope.users([])
    /// Whether the key holder has not answered the last request to lock.
    private var isLocking = false

    /// Must be longer than the key holder waits for requests that have begun.
    private static let endTimeout = Duration.seconds(3)
    /// How often to check that clients still find this agent.
    static let checkInterval = Duration.seconds(10)

    /// Starts the agent, reports the result on standard output, and waits until the agent ends.
    static func run(_ mode: AgentMode, _ memory: KeyMemory) -> Never {
        let output = FileDescriptor(owning: StandardStream.output.rawValue)
        do {
            var agent = try start(mode, memory)
            // Without a log, there is nowhere to write the warning.
            _ = ifPossible(try memory.warn(in: mode))
            let status = agent.supervise(reportingTo: output)
            agent.end()
            ProcessEnd.atOnce(with: status)
        } catch {
            // The process that started the agent no longer reads the report.
            _ = ifPossible(try AgentReport(failure: error).send(to: output, in: mode))
            ProcessEnd.atOnce(with: 6)
        }
    }

    init(
        mode: AgentMode, endpoint: consuming AgentEndpoint, signals: consuming SignalQueue,
        keyHolder: ChildProcess, requests: consuming FileDescriptor
    ) {
        self.mode = mode
        self.endpoint = endpoint
        self.signals = signals
        self.keyHolder = keyHolder
        self.requests = requests
    }

    /// Reports that the agent is ready, and serves the key holder until it ends or this process is
    /// asked to end.
    ///
    /// - Returns: the exit status.
    private mutating func supervise(reportingTo output: borrowing FileDescriptor) -> Int32 {
        do throws(SystemCallFailure) {
            try AgentReport.ready.send(to: output, in: mode)
            try StandardStream.output.discard()
            var sign = Moment.now
            while true {
                if sign.timeRemaining <= .zero {
                    try keyHolder.input.send(KeyHolder.alive)
                    sign = .now + Supervisor.checkInterval
                }
                try lock(login.vaultsToLock())
                var interests = [Polling.Interest.reading(keyHolder.output), .reading(requests)]
                interests += programs.map(\.life) + login.interests
                let ready = try signals.wait(for: interests, timeout: Supervisor.checkInterval)
                if try signals.next() != nil { return 0 }
                if ready[0] {
                    let answer = try keyHolder.output.receiveFile()?.byte
                    guard isLocking, answer == KeyHolder.locked else { return 0 }
                    isLocking = false
                    if vaultsToLock.isEmpty { login.noteLocked() }
                }
                guard try endpoint.isHeld() else { return 0 }
                programs = zip(programs, ready.dropFirst(2)).compactMap { program, hasEnded in
                    hasEnded || program.isOverdue ? nil : program
                }
                if ready[1], try !serveRequest() { return 0 }
            }
        } catch {
            return 6
        }
    }

    /// Makes the key holder lock these vaults.
    ///
    /// Requests that arrive while it locks others are combined into one, however many sessions are
    /// locked: otherwise, they could fill the connection and end the agent.
    private mutating func lock(_ scope: LoginWatch.Scope) throws(SystemCallFailure) {
        switch (scope, mode) {
        case (.users(let users), .user):
            if users.contains(CurrentProcess.user) { vaultsToLock = .all }
        default: vaultsToLock.formUnion(scope)
        }
        guard !isLocking, let request = vaultsToLock.popRequest() else { return }
        for byte in request { try keyHolder.input.send(byte) }
        isLocking = true
    }

    /// Starts the program that the key holder asks for.
    ///
    /// - Returns: whether the key holder is still running.
    private mutating func serveRequest() throws(SystemCallFailure) -> Bool {
        guard let request = try ProgramRequest.next(from: requests, in: mode) else { return false }
        do throws(SystemCallFailure) {
            guard let path = RunningProgram.companion(request.name) else {
                throw Supervisor.noPath
            }
            programs.append(try StartedProgram(path, for: request, handedOver: requests))
        } catch {
            try requests.send(HelperChannel.failed)
        }
        return true
    }

    /// Ends the key holder, which wipes its keys when the connection closes, and removes the
    /// socket.
    private consuming func end() {
        // If the removal fails, the next agent removes the socket.
        _ = ifPossible(try endpoint.removeSocket())
        keyHolder.input.shutDown()
        do throws(SystemCallFailure) {
            let deadline = Moment.now + Supervisor.endTimeout
            var rest = try IncomingFrame(limit: 1)
            while deadline.timeRemaining > .zero,
                case .wouldWait = try rest.advance(
                    from: keyHolder.output)
            {
                _ = try Polling.wait(
                    for: [.reading(keyHolder.output)], timeout: deadline.timeRemaining)
            }
        } catch {}
        keyHolder.end()
    }
}

// Starts the agent; the last step is a confined key holder.
extension Supervisor {
    static func start(_ mode: AgentMode, _ memory: KeyMemory) throws -> Supervisor {
        try ProcessHardening.apply()
        try ProcessHardening.requireNoTracer()
        switch mode {
        case .user:
            let folder: OpenRuntimeFolder
            switch RuntimeFolder.open(makes: true) {
            case .opened(let opened): folder = opened
            case .failed(let failure): throw AgentFailure.folder(failure)
            }
            let lock = try lock(in: folder.folder)
            // This process holds the lock, so no process listens on a socket that already exists.
            try folder.folder.removeFile(AgentProtocol.socketName)
            let listener = try LocalSocket.listen(at: folder.path(of: AgentProtocol.socketName))
            let socket = try folder.inode(of: AgentProtocol.socketName)
            let endpoint = AgentEndpoint(folder: folder, lock: lock, socket: socket)
            return try start(mode, memory, listeningTo: listener, at: endpoint)
        case .system(let path):
            guard let folder = try Folder.openPrivate(path) else {
                throw AgentFailure.folder(.notPrivate(path))
            }
            let endpoint = AgentEndpoint(folder: nil, lock: try lock(in: folder), socket: nil)
            return try start(mode, memory, listeningTo: LocalSocket.inherited(), at: endpoint)
        }
    }

    private static func lock(in folder: borrowing Folder) throws -> FileLock {
        let lock = try FileLock(AgentProtocol.lockName, in: folder, timeout: .zero)
        // If the lock is not held, another process removed the file before this process locked it.
        guard try lock.isHeld(as: AgentProtocol.lockName, in: folder) else {
            throw FileError.busy
        }
        return lock
    }

    private static func start(
        _ mode: AgentMode, _ memory: KeyMemory, listeningTo listener: borrowing FileDescriptor,
        at endpoint: consuming AgentEndpoint
    ) throws -> Supervisor {
        let signals = try SignalQueue([.terminate, .hangUp, .interrupt, .quit])
        guard let path = RunningProgram.path() else { throw noPath }
        let keyHolder = try ChildProcess(
            running: path, arguments: memory.arguments + mode.argumentsOfKeyHolder,
            over: SocketPair())
        let channel = try SocketPair()
        try keyHolder.input.send(1, with: listener)
        try keyHolder.input.send(1, with: channel.second)
        try KeyHolder.awaitGreeting(of: keyHolder)
        // The programs that this process starts run as the user who owns all vaults.
        if case .system(let path) = mode { try FileAccessLimit.leaveOut(path) }
        return Supervisor(
            mode: mode, endpoint: endpoint, signals: signals, keyHolder: keyHolder,
            requests: channel.takeFirst())
    }

    static let noPath = SystemCallFailure(call: "readlink", number: 2)
}

extension AgentReport {
    /// The report for the error that prevented the start.
    init(failure: any Error) {
        switch failure {
        case AgentFailure.folder(let failure): self = .noFolder(failure)
        case let failure as SystemCallFailure: self = .failed(failure)
        case FileError.busy: self = .taken
        case FileError.system(let failure): self = .failed(failure)
        // The lock file is not an ordinary file.
        default: self = .failed(SystemCallFailure(call: "flock", number: 22))
        }
    }
}

/// The socket and lock by which clients find the agent.
struct AgentEndpoint: ~Copyable {
    /// The folder of the socket; `nil` if the service manager owns the socket.
    let folder: OpenRuntimeFolder?
    /// The lock that is held as long as the agent runs.
    let lock: FileLock
    /// The inode number of the socket's file.
    let socket: UInt64?

    /// Whether clients still find this agent, and no other agent can start.
    ///
    /// When the user logs out, the system removes the folder. The service manager maintains that of
    /// the system agent.
    func isHeld() throws(SystemCallFailure) -> Bool {
        switch folder {
        case nil: return true
        case let folder?:
            // The operator `&&` would lose the error's type.
            guard try folder.isInPlace() else { return false }
            guard try lock.isHeld(as: AgentProtocol.lockName, in: folder.folder) else {
                return false
            }
            return try folder.inode(of: AgentProtocol.socketName) == socket
        }
    }

    /// Removes the socket of this agent, but not that of another agent.
    func removeSocket() throws(SystemCallFailure) {
        switch folder {
        case nil: return
        case let folder?:
            guard try folder.inode(of: AgentProtocol.socketName) == socket else { return }
            try folder.folder.removeFile(AgentProtocol.socketName)
        }
    }
}
