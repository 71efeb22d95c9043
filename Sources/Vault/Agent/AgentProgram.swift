internal import Devices
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// The agent's clock, and its timeout for devices.
package struct AgentTiming: Sendable {
    let clock: @Sendable () -> AgentClock
    let deviceTimeout: @Sendable () -> Duration

    /// - Parameters:
    ///   - clock: returns the time.
    ///   - deviceTimeout: returns how long a TPM may take for each step.
    package init(
        clock: @escaping @Sendable () -> AgentClock = AgentClock.now,
        deviceTimeout: @escaping @Sendable () -> Duration = { TokenHelper.standardTimeout }
    ) {
        self.clock = clock
        self.deviceTimeout = deviceTimeout
    }
}

/// The entry point of the program `watchword-agent`.
package enum AgentProgram {
    private static let about =
        "watchword-agent holds the keys of unlocked vaults; use `watchword unlock`."

    /// Runs the agent for the vaults in the folders that are given as arguments, or the system
    /// agent with its state folder.
    ///
    /// Optional arguments precede the folders: ``KeyMemory/argument``, and
    /// ``AgentStart/deviceKeys`` with the folder of the user's device keys.
    package static func main(_ timing: AgentTiming = AgentTiming()) -> Never {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let memory = KeyMemory(takingFrom: &arguments)
        var deviceKeys: String?
        if arguments.first == AgentStart.deviceKeys, arguments.count > 1 {
            deviceKeys = arguments[1]
            arguments.removeFirst(2)
        }
        switch arguments.first {
        case KeyHolder.argument:
            let folders = Array(arguments.dropFirst())
            KeyHolder.run(.user(folders: folders, deviceKeys: deviceKeys), memory, timing)
        case KeyHolder.systemArgument where arguments.count == 2:
            KeyHolder.run(.system(folder: arguments[1]), memory, timing)
        case "--system" where arguments.count == 2 && arguments[1].hasPrefix("/"):
            Supervisor.run(.system(folder: arguments[1]), memory)
        case "--version": say("watchword-agent \(ProgramVersion.text)", on: .output, status: 0)
        case "--help": say(about, on: .output, status: 0)
        case nil:
            say(about, on: .error, status: 2)
        case let first? where !first.hasPrefix("/"): say(about, on: .error, status: 2)
        default: Supervisor.run(.user(folders: arguments, deviceKeys: deviceKeys), memory)
        }
    }

    private static func say(
        _ sentence: String, on stream: StandardStream, status: Int32
    ) -> Never {
        // A failure of this write cannot be reported anywhere.
        _ = ifPossible(try stream.write(Array("\(sentence)\n".utf8).span))
        ProcessEnd.atOnce(with: status)
    }
}

/// The users whose vaults an agent holds.
enum AgentMode: Sendable {
    /// The vaults of the user as whom the agent runs, in these folders; the user's device keys are
    /// in a separate folder, if it could be created.
    case user(folders: [String], deviceKeys: String?)
    /// The vaults of all users: each is in a subfolder of this folder, named after the user's ID.
    case system(folder: String)

    /// The folders with the vaults; for the system agent, its state folder.
    var folders: [String] {
        switch self {
        case .user(let folders, _): folders
        case .system(let folder): [folder]
        }
    }

    /// The folder with the device keys of the user as whom the agent runs.
    var deviceKeys: String? { if case .user(_, let folder) = self { folder } else { nil } }

    var argumentsOfKeyHolder: [String] {
        switch self {
        case .user(let folders, let keys):
            (keys.map { [AgentStart.deviceKeys, $0] } ?? []) + [KeyHolder.argument] + folders
        case .system(let folder): [KeyHolder.systemArgument, folder]
        }
    }

    /// The maximum number of clients of all users at a time.
    var mostClients: Int {
        switch self {
        case .user: Connections.limitPerUser
        case .system: 1024
        }
    }

    /// The total size of the files of all vaults that are held.
    var largestTotal: Int64 {
        switch self {
        case .user: .max
        case .system: HeldVaults.largestTotalOfSystem
        }
    }

    /// The vault that a client of this user can use; `nil` in an agent of one user.
    func reach(of user: UInt32) -> ClientReach? {
        switch self {
        case .user: nil
        case .system(let folder): .account(SystemAccount(stateFolder: folder, user: user))
        }
    }
}

/// The kinds of memory in which an agent may keep the keys of vaults.
enum KeyMemory: Sendable {
    /// Only in memory that cannot be written to swap.
    case locked
    /// Also in ordinary memory, if this process cannot lock any.
    case any

    static let argument = "--unlocked-memory"

    /// Removes the option, if present, from the beginning of a program's arguments.
    init(takingFrom arguments: inout [String]) {
        self = .locked
        guard arguments.first == KeyMemory.argument else { return }
        arguments.removeFirst()
        self = .any
    }

    /// The arguments that pass the choice to another process.
    var arguments: [String] { self == .any ? [KeyMemory.argument] : [] }

    /// Whether this process cannot lock any memory.
    static var isUnlocked: Bool { SecretBytes.lockedLimit == 0 }

    /// Whether a key may be kept, given whether its memory is locked.
    func mayHold(_ key: HeldKey) -> Bool {
        key.isLocked || self == .any && KeyMemory.isUnlocked
    }
}

extension AgentReport {
    /// Reports to the program that started a user agent, or to the log of the service manager.
    func send(
        to output: borrowing FileDescriptor, in mode: AgentMode
    ) throws(SystemCallFailure) {
        guard case .system = mode else { return try send(to: output) }
        if case .ready = self { return }
        let line = "watchword-agent did not start: \(self)\n"
        try StandardStream.error.write(Array(line.utf8).span)
    }
}

extension KeyMemory {
    /// Warns in the log of the service manager that keys are not locked.
    func warn(in mode: AgentMode) throws(SystemCallFailure) {
        guard case .system = mode, self == .any, KeyMemory.isUnlocked else { return }
        let line = "watchword-agent can lock no memory: keys may be written to swap\n"
        try StandardStream.error.write(Array(line.utf8).span)
    }
}

/// A reading of the two clocks that limit how long the agent holds a key.
package struct AgentClock: Hashable, Sendable {
    /// The time since the kernel started, including suspends; this clock cannot be set.
    package let sinceBoot: Duration
    /// The time since the kernel started, without suspends.
    package let awake: Duration

    package init(sinceBoot: Duration, awake: Duration) {
        self.sinceBoot = sinceBoot
        self.awake = awake
    }

    package static func now() -> AgentClock {
        AgentClock(sinceBoot: Moment.now.sinceStart, awake: Moment.awakeTime())
    }

    /// The time that the machine has spent suspended.
    var suspended: Duration { sinceBoot - awake }
}
