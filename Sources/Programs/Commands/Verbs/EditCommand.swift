import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography

/// `edit`: changes an entry's access control, name, code parameters or secret.
enum EditCommand {
    private static let accessOptions: [Option] = [
        .presence, .onFailure, .reuse, .fingers, .thisDevice, .noThisDevice,
    ]
    private static let nameOptions: [Option] = [.issuer, .account]

    static func run(_ session: Session) throws -> ExitCode {
        let arguments = session.arguments
        let options = accessOptions + nameOptions + CodeChange.options + DetailsChange.options
        guard options.contains(where: arguments.has) else {
            throw UsageError.needsOneOf(options.map { "--" + $0.name })
        }
        guard arguments.has(.secretFile) || !arguments.has(.encoding) else {
            throw UsageError.needs(Option.encoding.name, with: Option.secretFile.name)
        }
        // Check the arguments before any prompt.
        _ = try session.isHex()
        let access = try AccessControlChange(session)
        var codes = try CodeChange(session)
        let details = try DetailsChange(session)
        let binding = try session.binding()
        let vault = try session.openVault(despite: binding == nil ? [] : [.tpm])
        let entry = try vault.entries.one(
            toChange: arguments.operands[0], asks: session.canAskToChoose)
        try refuseInapplicable(CodeChange.options, for: entry, session)
        try access.requirePerUse(after: entry.accessControl)
        let fingers = try session.requiresCurrentFingers(
            under: access.applied(to: entry.accessControl).presence)
        try session.expectFingers(fingers, of: vault)
        // Changing a secret, access control or the name requires the same check as using the
        // entry.
        if (CodeChange.options + accessOptions).contains(where: arguments.has) {
            try session.requireHome(of: entry)
            try session.confirm(entry, in: vault, for: .edit)
        } else if nameOptions.contains(where: arguments.has) {
            try session.confirmIfRequired(entry, in: vault, for: .edit)
        }
        try codes.readSecret(for: entry.kind, session)
        var revision = EntryRevision(of: entry)
        revision.issuer = arguments[.issuer]
        revision.account = arguments[.account]
        revision.details = details
        revision.codes = codes
        revision.access = access
        revision.binding = binding.map { .bind($0) }
        if arguments.has(.noThisDevice) { revision.binding = .unbind }
        revision.fingers = fingers
        if revision.changesCodesOfKey, !entry.requiresCheckPerUse {
            try session.proveAgain(vault)
        }
        let former = vault.entries
        let outcome = try session.perform(.revise(revision), in: vault, about: entry)
        guard case .revised(let name, let warnings, let bound) = outcome else {
            outcome.isUnexpected()
        }
        if warnings.movesBack {
            session.printer.warn("the counter moves back; codes that were already used will repeat")
        }
        for warning in warnings.credential {
            session.printer.warn(Messages.sentence(for: warning))
        }
        let isFreed = arguments.has(.noThisDevice) && entry.binding != nil
        try session.print(
            bound.record + [("entry", .text(name.text)), ("result", .text("changed"))],
            orNote: "Changed \(name.visible)."
                + (isFreed ? " It opens on any device again." : bound.note))
        if bound != nil {
            session.printer.warn(Messages.olderCopiesOpen)
            session.warnOfFormat(of: former)
        }
        return .done
    }

    /// Refuses options that do not apply to the entry's type.
    private static func refuseInapplicable(
        _ options: [Option], for entry: EntrySummary, _ session: Session
    ) throws {
        let foreign: [Option] =
            switch entry.kind {
            case .totp: [.counter]
            case .hotp: [.period]
            case .secret: [.algorithm, .digits, .period, .counter, .encoding]
            case .enrolled, .motp, .yandex: options
            }
        for option in foreign where session.arguments.has(option) {
            throw UsageError.conflict("type \(entry.kind.rawValue)", option.name)
        }
    }
}

/// `rename` and `remove`: change an entry's name, or delete the entry.
enum RenameCommand {
    static func rename(_ session: Session) throws -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(
            toChange: session.arguments.operands[0], asks: session.canAskToChoose)
        let name = EntryName(typed: session.arguments.operands[1])
        try session.confirmIfRequired(entry, in: vault, for: .edit)
        _ = try session.perform(.rename(entry.id, to: name), in: vault)
        session.printer.note("Renamed \(entry.name.visible) to \(name.visible).")
        return .done
    }

    static func remove(_ session: Session) throws -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(
            toChange: session.arguments.operands[0], asks: !session.arguments.has(.yes))
        let name = entry.name.visible
        let purges = session.arguments.has(.purge)
        if !session.arguments.has(.yes) {
            let outlook =
                purges ? "Its key cannot be recovered." : "Only watchword undo can restore it."
            try Question.confirm("Remove \(name)? \(outlook)")
        }
        try session.confirmIfRequired(entry, in: vault, for: .remove)
        _ = try session.perform(.remove(entry.id, purge: purges), in: vault)
        session.printer.note("Removed \(name).")
        return .done
    }
}
