import CommandRunner
import Cryptography
import JSONText
import SecretVault

/// `check`: decrypts every entry and reports problems.
enum CheckCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.unlock()
        let result = try session.inVault { () throws(VaultError) in try vault.check() }
        let names = vault.entries
        if session.wantsJSON {
            try session.printer.line(
                .object([
                    (
                        "damages",
                        .list(result.damages.map { .text(Messages.description(of: $0, in: names)) })
                    ),
                    ("generation", .counter(vault.generation)),
                    ("locked_memory", lockedMemory),
                    ("opened", .number(Int64(result.opened))),
                    ("previous", .text(word(for: result.previous))),
                    ("recovery_key", .flag(result.hasRecoveryKey)),
                    (
                        "reports",
                        .list(result.reports.map { .text(Messages.sentence(for: $0, in: names)) })
                    ),
                ]))
        } else {
            try session.printer.line(Messages.summary(of: result, generation: vault.generation))
        }
        for damage in result.damages {
            session.printer.complain(Messages.description(of: damage, in: names) + " is damaged")
        }
        if let limit = SecretBytes.lockedLimit {
            session.printer.warn(Messages.sentence(forLockedMemory: limit))
        }
        session.checkClock()
        if !result.hasRecoveryKey {
            session.printer.note("The vault has no recovery key; see watchword slot add --help.")
        }
        return result.damages.isEmpty ? .done : .badInput
    }

    /// The number of bytes of secrets that can be kept out of swap; `null` if the limit is high
    /// enough.
    private static var lockedMemory: JSONValue {
        SecretBytes.lockedLimit.map { .number(Int64($0)) } ?? .null
    }

    private static func word(for previous: PreviousGeneration) -> String {
        switch previous {
        case .none: "none"
        case .whole: "whole"
        case .unusable: "unusable"
        }
    }
}
