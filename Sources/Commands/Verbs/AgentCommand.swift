import CommandRunner
import JSONText
import Presence
import VaultAgent

/// `agent status` and `agent stop`.
enum AgentCommand {
    static func status(_ session: Session) throws(CommandFailure) -> ExitCode {
        guard let client = try session.runningAgent() else {
            if session.wantsJSON {
                try session.printer.line(
                    .object([("running", .flag(false)), ("vaults", .list([]))]))
            } else {
                try session.printer.line("The agent is not running.")
            }
            return .done
        }
        guard case .status(let status) = try session.exchange(.status, with: client) else {
            throw .agent(.malformed)
        }
        if session.wantsJSON {
            try session.printer.line(json(status))
        } else {
            for line in Messages.lines(for: status) { try session.printer.line(line) }
        }
        return .done
    }

    static func stop(_ session: Session) throws(CommandFailure) -> ExitCode {
        guard let client = try session.runningAgent() else {
            session.printer.note("The agent is not running.")
            return .done
        }
        guard case .done = try session.exchange(.stop, with: client) else {
            throw .agent(.malformed)
        }
        client.waitForEnd()
        session.printer.note("Stopped the agent.")
        return .done
    }

    private static func json(_ status: AgentStatus) -> JSONValue {
        .object([
            ("limits_files", .flag(status.limitsFiles)), ("mode", .text("user")),
            ("pid", .number(Int64(status.process))), ("running", .flag(true)),
            (
                "vaults",
                .list(
                    status.vaults.map { vault in
                        .object([
                            ("idle_remaining", .number(vault.idle.wholeSeconds)),
                            ("pam_grade", .text(Advisory.name)), ("path", .text(vault.path)),
                            ("remaining", .number(vault.total.wholeSeconds)),
                        ])
                    })
            ),
        ])
    }
}
