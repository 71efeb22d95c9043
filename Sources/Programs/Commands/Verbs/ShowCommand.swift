import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography

/// `show`: an entry's details, or its secret.
enum ShowCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let arguments = session.arguments
        try arguments.forbid(.uri, .qrShown, .reveal)
        if arguments.has(.force), !arguments.has(.qrPNG) {
            throw UsageError.needs(Option.force.name, with: Option.qrPNG.name)
        }
        let secrets: [Option] = [.reveal, .uri, .qrShown, .qrPNG]
        guard secrets.contains(where: arguments.has) else {
            let vault = try session.openVault()
            let entry = try vault.entries.one(named: arguments.operands[0])
            try showFacts(entry, in: vault, session)
            try session.recordUse(of: entry, in: vault)
            return .done
        }
        let vault = try session.openVaultForSecrets()
        let entry = try vault.entries.one(named: arguments.operands[0])
        if arguments.has(.reveal) {
            try reveal(entry, in: vault, session)
        } else {
            try showAddress(entry, in: vault, session)
        }
        try session.recordUse(of: entry, in: vault)
        return .done
    }

    private static func showFacts(
        _ entry: EntrySummary, in vault: any OpenVault, _ session: Session
    ) throws {
        let check = try session.checkChoice().check(of: entry)
        let facts = ListCommand.facts(of: entry, in: vault, check: check)
        let width = 12
        try session.print(facts, width: width) { name, value in
            if name == "note", case .text(let note) = value {
                let lines = note.split(
                    omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                return lines.map { VisibleText.of(String($0)) }
                    .joined(separator: "\n" + String(repeating: " ", count: width))
            }
            // The name already contains issuer and account.
            if name == "name" { return nil }
            if case .flag(false) = value, name != "here" { return nil }
            let explained = explanation(
                of: name, entry, check, isEnforced: vault.isKeptBySystem)
            return value.visible.map { $0 + (explained.map { ": " + $0 } ?? "") }
        }
    }

    /// The meaning of a value of access control or of a binding.
    private static func explanation(
        of name: String, _ entry: EntrySummary, _ check: EntryCheck, isEnforced: Bool
    ) -> String? {
        let access = entry.accessControl
        return switch name {
        case "binding":
            entry.isHere
                ? entry.binding.map {
                    "opens only on this device, \(Messages.description(of: $0.binding))"
                } : Messages.place(of: entry)
        case "check": Messages.sentence(for: check)
        case "grade": Messages.sentence(forGradeOf: check, isEnforced: isEnforced)
        case "on_failure": Messages.sentence(for: access.onFailure)
        case "presence": Messages.sentence(for: access.presence)
        case "reuse": Messages.sentence(for: access.reuse)
        default: nil
        }
    }

    private static func reveal(_ entry: EntrySummary, in vault: any OpenVault, _ session: Session)
        throws
    {
        try requireShowable(entry)
        guard entry.kind == .secret else { throw CommandFailure.notPlain(entry.name.visible) }
        try session.confirmShowing("the secret of \(entry.name.visible)")
        guard
            case .plainSecret(_, _, let value) = try session.content(
                of: entry, in: vault, for: .show)
        else { throw CommandFailure.notPlain(entry.name.visible) }
        try session.show(value, named: "secret", of: entry)
    }

    /// An enrolled secret has one holder, and is never shown.
    private static func requireShowable(_ entry: EntrySummary) throws {
        guard entry.kind != .enrolled else {
            throw CommandFailure.noCodes(entry.name.visible, .enrolled)
        }
    }

    private static func showAddress(
        _ entry: EntrySummary, in vault: any OpenVault, _ session: Session
    ) throws {
        try requireShowable(entry)
        let shows = session.arguments.has(.uri) || session.arguments.has(.qrShown)
        if shows { try session.confirmShowing("the key of \(entry.name.visible)") }
        let uri = KeyURI.format(try session.credential(of: entry, in: vault, for: .show))
        if let path = session.arguments[.qrPNG] {
            try SecretFile.write(QRWriteCommand.picture(of: uri), to: path, session)
        }
        if session.arguments.has(.uri) {
            try session.show(uri, named: "uri", of: entry)
        } else if session.arguments.has(.qrShown) {
            try QRWriteCommand.show(uri, session)
        }
    }
}

extension Session {
    /// Prints a secret of `entry` on a separate line, or as the JSON member `name`.
    fileprivate func show(_ secret: SecretBytes, named name: String, of entry: EntrySummary)
        throws
    {
        func record() -> Record {
            let fields: Record = [
                ("account", .text(entry.account)), ("issuer", .text(entry.issuer)),
                JSONValue.text(named: name, secret),
            ]
            return fields.filling([name, "base64"])
        }
        try print(
            record().byName, orSecret: printer.outputIsTerminal ? VisibleText.of(secret) : secret)
    }
}
