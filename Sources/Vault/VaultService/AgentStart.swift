internal import SecretVault
package import WatchwordSystem

/// Starts the agent of this user.
package enum AgentStart {
    private static let timeout = Duration.seconds(15)

    /// Starts the agent, which can reach vaults in `folders`, and connects to it.
    ///
    /// If another process starts an agent at the same time, this connects to that one; if an agent is
    /// ending, this starts one after it.
    ///
    /// - Parameter unlockedMemory: whether it may hold keys where no memory can be locked.
    package static func run(
        folders: [String], unlockedMemory: Bool = false
    ) throws(AgentFailure) -> AgentClient {
        guard let path = RunningProgram.companion("watchword-agent") else {
            throw .programNotFound
        }
        let deadline = Moment.now + timeout
        let options = unlockedMemory ? ["--unlocked-memory"] : []
        do { _ = try RuntimeFolder.open(makes: true) } catch { throw .folder(error) }
        while true {
            switch try start(path, options + folders, until: deadline) {
            case .ready: return try AgentClient()
            case .taken: break
            case .failed(let failure): throw .notStarted(failure)
            case .noFolder(let failure): throw .folder(failure)
            case nil: throw .noAnswer
            }
            do throws(AgentFailure) {
                return try AgentClient()
            } catch .notRunning where deadline.timeRemaining > .zero {
                // The other agent does not listen yet, or no longer.
                do { _ = try Polling.wait(for: [], timeout: .milliseconds(20)) } catch {
                    throw .system(error)
                }
            }
        }
    }

    /// Starts the program, and waits for its report.
    private static func start(
        _ path: String, _ arguments: [String], until deadline: Moment
    ) throws(AgentFailure) -> AgentReport? {
        let environment = Environment.variables(["XDG_RUNTIME_DIR", "DBUS_SYSTEM_BUS_ADDRESS"])
        do throws(SystemCallFailure) {
            let pipe = try BackgroundProgram.start(
                path, arguments: arguments, environment: environment)
            return try report(from: pipe, until: deadline)
        } catch {
            throw .system(error)
        }
    }

    /// Waits for the agent's report; `nil` if there is none.
    private static func report(
        from pipe: borrowing FileDescriptor, until deadline: Moment
    ) throws(SystemCallFailure) -> AgentReport? {
        var incoming = try IncomingFrame(limit: AgentReport.largestFrame)
        while deadline.timeRemaining > .zero {
            switch try incoming.advance(from: pipe) {
            case .complete(let frame): return frame.withBytes { AgentReport(parsing: $0) }
            case .ended, .bad: return nil
            case .wouldWait:
                _ = try Polling.wait(for: [.reading(pipe)], timeout: deadline.timeRemaining)
            }
        }
        return nil
    }
}

/// What a starting agent reports on its standard output, in one frame.
package enum AgentReport: Hashable, Sendable {
    /// It listens.
    case ready
    /// Another agent of this user is running.
    case taken
    /// There is no folder for its socket.
    case noFolder(RuntimeFolder.Failure)
    /// A step failed.
    case failed(SystemCallFailure)

    static let largestFrame = 8192

    private enum Kind: UInt8 {
        case ready = 1
        case taken, missingFolder, exposedFolder, foreignFolder, failed
    }

    /// Sends it.
    package func send(to output: borrowing FileDescriptor) throws(SystemCallFailure) {
        let frame = try FrameWriter()
        switch self {
        case .ready: frame.append(Kind.ready.rawValue)
        case .taken: frame.append(Kind.taken.rawValue)
        case .noFolder(.missing): frame.append(Kind.missingFolder.rawValue)
        case .noFolder(.notPrivate(let path)):
            frame.append(Kind.exposedFolder.rawValue)
            frame.append(path)
        case .noFolder(.notOwned(let path)):
            frame.append(Kind.foreignFolder.rawValue)
            frame.append(path)
        case .noFolder(.system(let failure)), .failed(let failure):
            frame.append(Kind.failed.rawValue)
            frame.append(failure)
        }
        try frame.write(to: output)
    }

    init?(parsing bytes: Span<UInt8>) {
        var fields = FieldReader(.bigEndian)
        do throws(FieldReader.Unreadable) {
            switch Kind(rawValue: try fields.byte(bytes)) {
            case .ready: self = .ready
            case .taken: self = .taken
            case .missingFolder: self = .noFolder(.missing)
            case .exposedFolder: self = .noFolder(.notPrivate(try fields.value(bytes)))
            case .foreignFolder: self = .noFolder(.notOwned(try fields.value(bytes)))
            case .failed: self = .failed(try fields.value(bytes))
            case nil: return nil
            }
            try fields.finish(bytes)
        } catch {
            return nil
        }
    }
}
