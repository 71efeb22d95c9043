internal import ProcessConfinement
internal import VaultService
internal import WatchwordSystem

// Starting the agent, which ends with a key holder that is confined.
extension Supervisor {
    /// Why the agent does not start.
    struct StartFailure: Error {
        let report: AgentReport

        init(_ report: AgentReport) { self.report = report }

        init(_ failure: SystemCallFailure) { report = .failed(failure) }
    }

    static func start(
        _ mode: AgentMode, _ memory: KeyMemory
    ) throws(StartFailure) -> Supervisor {
        do throws(SystemCallFailure) {
            try ProcessHardening.apply()
            try ProcessHardening.requireNoTracer()
        } catch {
            throw StartFailure(error)
        }
        switch mode {
        case .user:
            let folder: OpenRuntimeFolder
            switch RuntimeFolder.open(makes: true) {
            case .opened(let opened): folder = opened
            case .failed(let failure): throw StartFailure(.noFolder(failure))
            }
            let lock = try lock(in: folder.folder)
            do {
                // This process holds the lock, so no process listens on a socket that already exists.
                try folder.folder.removeFile(AgentProtocol.socketName)
                let listener = try LocalSocket.listen(
                    at: folder.path(of: AgentProtocol.socketName))
                let socket = try folder.inode(of: AgentProtocol.socketName)
                return try start(mode, memory, on: listener, in: folder, lock, socket: socket)
            } catch {
                throw StartFailure(error)
            }
        case .system(let path):
            let lock = try lock(inStateFolder: path)
            do {
                return try start(
                    mode, memory, on: LocalSocket.inherited(), in: nil, lock, socket: nil)
            } catch {
                throw StartFailure(error)
            }
        }
    }

    private static func lock(inStateFolder path: String) throws(StartFailure) -> FileLock {
        let folder: Folder?
        do { folder = try Folder.openPrivate(path) } catch { throw StartFailure(error) }
        guard let folder else { throw StartFailure(.noFolder(.notPrivate(path))) }
        return try lock(in: folder)
    }

    private static func lock(in folder: borrowing Folder) throws(StartFailure) -> FileLock {
        let lock: FileLock
        do {
            lock = try FileLock(AgentProtocol.lockName, in: folder, timeout: .zero)
        } catch {
            throw StartFailure(report(on: error))
        }
        let isHeld: Bool
        do { isHeld = try lock.isHeld(as: AgentProtocol.lockName, in: folder) } catch {
            throw StartFailure(error)
        }
        // Another process removed the file before it was locked.
        guard isHeld else { throw StartFailure(.taken) }
        return lock
    }

    /// Starts the key holder.
    private static func start(
        _ mode: AgentMode, _ memory: KeyMemory, on listener: borrowing FileDescriptor,
        in folder: consuming OpenRuntimeFolder?, _ lock: consuming FileLock, socket: UInt64?
    ) throws(SystemCallFailure) -> Supervisor {
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
            mode: mode, folder: folder, lock: lock, socket: socket, signals: signals,
            keyHolder: keyHolder, requests: channel.takeFirst())
    }

    static let noPath = SystemCallFailure(call: "readlink", number: 2)

    private static func report(on error: FileError) -> AgentReport {
        switch error {
        case .busy: .taken
        case .system(let failure): .failed(failure)
        default: .failed(SystemCallFailure(call: "flock", number: 22))
        }
    }
}
