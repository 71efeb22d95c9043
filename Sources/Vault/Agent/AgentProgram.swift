internal import Devices
internal import WatchwordSystem

/// How the agent measures time, and how long it waits for devices.
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

/// The program `watchword-agent`.
package enum AgentProgram {
    private static let about =
        "watchword-agent holds the keys of unlocked vaults; use `watchword unlock`."

    /// Runs the agent for the vaults in the folders that are given as arguments, or the system agent
    /// with its state folder; before them, ``KeyMemory/argument``.
    package static func main(_ timing: AgentTiming = AgentTiming()) -> Never {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let memory = KeyMemory(takingFrom: &arguments)
        switch arguments.first {
        case KeyHolder.argument:
            KeyHolder.run(.user(folders: Array(arguments.dropFirst())), memory, timing)
        case KeyHolder.systemArgument where arguments.count == 2:
            KeyHolder.run(.system(folder: arguments[1]), memory, timing)
        case "--system" where arguments.count == 2 && arguments[1].hasPrefix("/"):
            Supervisor.run(.system(folder: arguments[1]), memory)
        case "--version": say("watchword-agent \(ProgramVersion.text)", on: .output, status: 0)
        case "--help": say(about, on: .output, status: 0)
        case nil:
            say(about, on: .error, status: 2)
        case let first? where !first.hasPrefix("/"): say(about, on: .error, status: 2)
        default: Supervisor.run(.user(folders: arguments), memory)
        }
    }

    private static func say(
        _ sentence: String, on stream: StandardStream, status: Int32
    ) -> Never {
        // If this fails, there is nowhere to report it.
        do { try stream.write(Array("\(sentence)\n".utf8).span) } catch {}
        ProcessEnd.atOnce(with: status)
    }
}
