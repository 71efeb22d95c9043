import CommandLineInterface
import Devices
import VaultService
import WatchwordCoding

/// `agent status` and `agent stop`.
enum AgentCommand {
    static func status(_ session: Session) throws -> ExitCode {
        let status = try session.status(of: session.runningAgent())
        let system = try session.status(of: SystemAgent.connect())
        if session.wantsJSON {
            var members = [("running", JSONValue.flag(status != nil))]
            members +=
                status.map { json($0, mode: "user", grade: Advisory.name) }
                ?? [("vaults", .list([]))]
            if let system {
                members.append(
                    ("system", .object(json(system, mode: "system", grade: Enforced.name))))
            }
            try session.printer.line(.object(members.sorted { $0.0 < $1.0 }))
        } else {
            let lines =
                status.map(Messages.lines(for:))
                ?? [Messages.notRunning(hasSystem: system != nil)]
            for line in lines + (system.map(Messages.lines(ofSystem:)) ?? []) {
                try session.printer.line(line)
            }
        }
        return .done
    }

    static func stop(_ session: Session) throws -> ExitCode {
        guard let client = try session.runningAgent(),
            let response = try session.exchange(.stop, withRunning: client)
        else {
            session.printer.note("The agent is not running.")
            return .done
        }
        guard case .done = response else { throw AgentFailure.malformed }
        client.waitForEnd()
        session.printer.note("Stopped the agent.")
        return .done
    }

    private static func json(
        _ status: AgentStatus, mode: String, grade: String
    ) -> [(String, JSONValue)] {
        [
            ("folders", .list(status.folders.map { .text($0) })),
            ("limits_files", .flag(status.limitsFiles)), ("locks_keys", .flag(status.locksKeys)),
            ("mode", .text(mode)), ("pid", .number(Int64(status.process))),
            (
                "vaults",
                .list(
                    status.vaults.map { vault in
                        .object([
                            ("idle_remaining", .number(vault.idle.wholeSeconds)),
                            ("pam_grade", .text(grade)), ("path", .text(vault.path)),
                            ("remaining", .number(vault.total.wholeSeconds)),
                        ])
                    })
            ),
        ]
    }
}

extension Session {
    /// What an agent holds; `nil` if it is not running.
    func status(of client: AgentClient?) throws -> AgentStatus? {
        guard let client else { return nil }
        guard case .status(let status) = try client.send(.status) else {
            throw AgentFailure.malformed
        }
        return status
    }
}
