internal import ProcessConfinement
internal import VaultService
internal import WatchwordSystem

// Starting the agent, which ends with a key holder that is confined.
extension Supervisor {
    static func start(_ mode: AgentMode, _ memory: KeyMemory) throws -> Supervisor {
        try ProcessHardening.apply()
        try ProcessHardening.requireNoTracer()
        switch mode {
        case .user:
            let folder = try RuntimeFolder.open(makes: true)
            let lock = try lock(in: folder.folder)
            // This process holds the lock, so no process listens on a socket that already exists.
            try folder.folder.removeFile(AgentProtocol.socketName)
            let listener = try LocalSocket.listen(at: folder.path(of: AgentProtocol.socketName))
            let socket = try folder.inode(of: AgentProtocol.socketName)
            let post = AgentPost(folder: folder, lock: lock, socket: socket)
            return try start(mode, memory, listeningTo: listener, at: post)
        case .system(let path):
            guard let folder = try Folder.openPrivate(path) else {
                throw RuntimeFolder.Failure.notPrivate(path)
            }
            let post = AgentPost(folder: nil, lock: try lock(in: folder), socket: nil)
            return try start(mode, memory, listeningTo: LocalSocket.inherited(), at: post)
        }
    }

    private static func lock(in folder: borrowing Folder) throws -> FileLock {
        let lock = try FileLock(AgentProtocol.lockName, in: folder, timeout: .zero)
        // If it is not held, another process removed the file before it was locked.
        guard try lock.isHeld(as: AgentProtocol.lockName, in: folder) else {
            throw PrivateFileError.busy
        }
        return lock
    }

    /// Starts the key holder.
    private static func start(
        _ mode: AgentMode, _ memory: KeyMemory, listeningTo listener: borrowing FileDescriptor,
        at post: consuming AgentPost
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
            mode: mode, post: post, signals: signals, keyHolder: keyHolder,
            requests: channel.takeFirst())
    }

    static let noPath = SystemCallFailure(call: "readlink", number: 2)
}

extension AgentReport {
    /// Why the agent does not start.
    init(failure: any Error) {
        switch failure {
        case let failure as RuntimeFolder.Failure: self = .noFolder(failure)
        case let failure as SystemCallFailure: self = .failed(failure)
        case PrivateFileError.busy: self = .taken
        case PrivateFileError.system(let failure): self = .failed(failure)
        // The lock is not an ordinary file.
        default: self = .failed(SystemCallFailure(call: "flock", number: 22))
        }
    }
}

/// Where clients find the agent.
struct AgentPost: ~Copyable {
    /// The folder of the socket; `nil` if the service manager owns the socket.
    let folder: OpenRuntimeFolder?
    /// Held as long as the agent runs.
    let lock: FileLock
    /// The inode number of the socket's file.
    let socket: UInt64?

    /// Whether clients still find this agent, and no other one can start.
    ///
    /// When the user logs out, the system removes the folder. The service manager takes care of the
    /// system agent's.
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

    /// Removes the socket of this agent, but not that of another one.
    func removeSocket() throws(SystemCallFailure) {
        switch folder {
        case nil: return
        case let folder?:
            guard try folder.inode(of: AgentProtocol.socketName) == socket else { return }
            try folder.folder.removeFile(AgentProtocol.socketName)
        }
    }
}
