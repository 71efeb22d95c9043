import CommandLineInterface
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography

/// `check`: decrypts every entry and reports problems.
enum CheckCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let vault = try session.openVault()
        let (result, generation) = try session.check(vault)
        let names = vault.entries
        let restoring = session.restoring(result.reports)
        if session.wantsJSON {
            try session.printer.line(
                .object([
                    ("closed", .number(Int64(result.closed + result.unusable.count))),
                    (
                        "damages",
                        .list(result.damages.map { .text(Messages.description(of: $0, in: names)) })
                    ),
                    ("generation", .counter(generation)),
                    ("locked_memory", lockedMemory),
                    ("opened", .number(Int64(result.opened))),
                    ("previous", .text(word(for: result.previous))),
                    ("recovery_key", .flag(result.hasRecoveryKey)),
                    (
                        "reports",
                        .list(
                            result.reports.map {
                                .text(
                                    Messages.sentence(
                                        for: $0, in: names, program: session.program,
                                        restoring: restoring))
                            })
                    ),
                    ("slots", .list(vault.slots.map { .text(SlotCommand.method($0)) })),
                ]))
        } else {
            try session.printer.line(Messages.summary(of: result, generation: generation))
            try session.printer.line(Messages.openers(of: vault.slots))
        }
        for damage in result.damages {
            session.printer.complain(Messages.description(of: damage, in: names) + " is damaged")
        }
        session.printReports(result.unusable, of: names)
        for entry in names where !entry.isHere {
            let place = Messages.place(of: entry) ?? ""
            session.printer.note("\(entry.name.visible) opens only \(place), and was not checked.")
        }
        if let limit = SecretBytes.lockedLimit {
            session.printer.warn(Messages.sentence(forLockedMemory: limit))
        }
        if let advice = Messages.advice(about: vault.slots, session.program) {
            session.printer.note(advice)
        }
        if vault.isKeptBySystem { session.printer.note(Messages.keptBySystem) }
        session.checkClock()
        if !result.hasRecoveryKey {
            session.printer.note("The vault has no recovery key; see watchword slot add --help.")
        }
        return !result.damages.isEmpty ? .badInput : result.unusable.isEmpty ? .done : .no
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

extension Session {
    fileprivate func check(_ vault: any OpenVault) throws -> (VaultCheck, generation: UInt64) {
        switch try vault.send(.check(vault.place)) {
        case .check(let check): return (check, vault.generation)
        case .failed(let error): throw CommandFailure.at(VisibleText.of(vault.path), error)
        case .locked(let reason): throw CommandFailure.agentLocked(reason)
        default: throw CommandFailure.agentLocked(nil)
        }
    }
}
