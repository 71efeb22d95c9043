package import WatchwordSystem

/// Starts the agent of this user.
package enum AgentStart {
    private static let timeout = Duration.seconds(15)
    /// The option before the folder with the user's device keys.
    package static let deviceKeys = "--device-keys"

    /// Starts the agent, which can reach vaults in `folders`, and connects to it.
    ///
    /// If another process starts an agent at the same time, this connects to that agent; if an
    /// agent is ending, a new one is started after it.
    ///
    /// - Parameters:
    ///   - deviceKeys: the folder with the user's device keys, which is created if it is missing.
    ///   - unlockedMemory: whether the agent may hold keys if it cannot lock memory.
    package static func run(
        folders: [String], deviceKeys: String? = nil, unlockedMemory: Bool = false
    ) throws(AgentFailure) -> AgentClient {
        guard let path = RunningProgram.companion("watchword-agent") else {
            throw .programNotFound
        }
        let deadline = Moment.now + timeout
        var options = unlockedMemory ? ["--unlocked-memory"] : []
        // Without the folder, the agent has no device keys.
        if let deviceKeys, ifPossible(try Folder.make(deviceKeys)) != nil {
            options += [AgentStart.deviceKeys, deviceKeys]
        }
        if case .failed(let failure) = RuntimeFolder.open(makes: true) { throw .folder(failure) }
        while true {
            let report = try AgentFailure.system(
                in: start(path, options + folders, until: deadline))
            switch report {
            case .ready: return try AgentClient()
            case .taken: break
            case .failed(let failure): throw .notStarted(failure)
            case .noFolder(let failure): throw .folder(failure)
            case nil: throw .noResponse
            }
            do throws(AgentFailure) {
                return try AgentClient()
            } catch .notRunning where deadline.timeRemaining > .zero {
                // The other agent does not listen yet, or does not listen any more.
                _ = try AgentFailure.system(
                    in: Polling.wait(for: [], timeout: .milliseconds(20)))
            }
        }
    }

    /// Starts the program, and waits for its report; `nil` if it ends without a report.
    private static func start(
        _ path: String, _ arguments: [String], until deadline: Moment
    ) throws(SystemCallFailure) -> AgentReport? {
        let environment = Environment.variables(["XDG_RUNTIME_DIR", "DBUS_SYSTEM_BUS_ADDRESS"])
        let pipe = try BackgroundProgram.start(
            path, arguments: arguments, environment: environment)
        var incoming = try IncomingFrame(limit: AgentReport.largestFrame)
        while deadline.timeRemaining > .zero {
            switch try incoming.advance(from: pipe) {
            case .complete(let frame):
                return frame.value()
            case .ended, .bad: return nil
            case .wouldWait:
                _ = try Polling.wait(for: [.reading(pipe)], timeout: deadline.timeRemaining)
            }
        }
        return nil
    }
}

/// The report that a starting agent writes to its standard output, in one frame.
package enum AgentReport: Hashable, Sendable {
    /// The agent accepts connections.
    case ready
    /// Another agent of this user is running.
    case taken
    /// The folder for the agent's socket does not exist.
    case noFolder(RuntimeFolder.Failure)
    /// This step of the start failed.
    case failed(SystemCallFailure)

    static let largestFrame = 8192

    /// Writes the report to `output`, in one frame.
    package func send(to output: borrowing FileDescriptor) throws(SystemCallFailure) {
        let frame = try FrameWriter()
        frame.append(self)
        try frame.write(to: output)
    }
}

extension AgentReport: Transferable {
    private enum Kind: UInt8, Transferable {
        case ready = 1
        case taken, missingFolder, exposedFolder, foreignFolder, failed
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .ready: output.append(Kind.ready)
        case .taken: output.append(Kind.taken)
        case .noFolder(.missing): output.append(Kind.missingFolder)
        case .noFolder(.notPrivate(let path)): output.append(Kind.exposedFolder, path)
        case .noFolder(.notOwned(let path)): output.append(Kind.foreignFolder, path)
        case .noFolder(.system(let failure)), .failed(let failure):
            output.append(Kind.failed, failure)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .ready: .ready
            case .taken: .taken
            case .missingFolder: .noFolder(.missing)
            case .exposedFolder: .noFolder(.notPrivate(try fields.value(bytes)))
            case .foreignFolder: .noFolder(.notOwned(try fields.value(bytes)))
            case .failed: try fields.make(Self.failed, from: bytes)
            }
    }
}
