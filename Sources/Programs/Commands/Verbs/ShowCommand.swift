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
        guard !session.wantsJSON else { return try session.printer.line(.object(facts)) }
        for (name, value) in facts {
            let padding = String(repeating: " ", count: max(12 - name.count, 1))
            switch value {
            case .text(let text) where name == "note":
                let indent = "\n" + String(repeating: " ", count: 12)
                let lines = text.split(
                    omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                try session.printer.line(
                    name + padding
                        + lines.map { VisibleText.of(String($0)) }.joined(separator: indent))
            case .list:
                try session.printer.line(name + padding + Messages.tags(of: entry))
            case .flag(let flag): try session.printer.line(name + padding + (flag ? "yes" : "no"))
            case .text(let text):
                let explained = explanation(
                    of: name, entry.accessControl, check, isEnforced: vault.isKeptBySystem)
                try session.printer.line(
                    name + padding + VisibleText.of(text) + (explained.map { ": " + $0 } ?? ""))
            case .number(let number):
                let explained = explanation(
                    of: name, entry.accessControl, check, isEnforced: vault.isKeptBySystem)
                try session.printer.line(
                    name + padding + String(number) + (explained.map { ": " + $0 } ?? ""))
            case .counter(let number): try session.printer.line(name + padding + String(number))
            default: continue
            }
        }
    }

    /// The meaning of an access control value.
    private static func explanation(
        of name: String, _ access: AccessControl, _ check: EntryCheck, isEnforced: Bool
    ) -> String? {
        switch name {
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
    /// Prints a secret of `entry`: alone on a line, or as the JSON member `name`.
    fileprivate func show(_ secret: SecretBytes, named name: String, of entry: EntrySummary)
        throws
    {
        guard wantsJSON else {
            return try printer.line(printer.outputIsTerminal ? VisibleText.of(secret) : secret)
        }
        let (member, value) = JSONValue.text(named: name, secret)
        let members = [
            ("account", JSONValue.text(entry.account)), ("issuer", .text(entry.issuer)),
            (member, value),
        ]
        try printer.line(.object(members.sorted { $0.0 < $1.0 }))
    }
}
