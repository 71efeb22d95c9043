import CommandLineInterface
import Exports
import OneTimePassword
import Pictures
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `add`: adds an entry.
enum AddCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let arguments = session.arguments
        try arguments.forbid(.uriFile, .qr, .secretFile)
        for source in [Option.uriFile, .qr] where arguments.has(source) {
            for option in EntryShape.describedByURI where arguments.has(option) {
                throw UsageError.conflict(source.name, option.name)
            }
        }
        // Check the arguments before any prompt.
        let shape = try EntryShape(session)
        let access = try AccessControlChange(session)
        try access.requirePerUse(after: .standard(for: .totp))
        let fingers = try session.requiresCurrentFingers(
            under: access.applied(to: .standard(for: .totp)).presence)
        let binding = try session.binding()
        let change = try DetailsChange(session)
        let vault = try session.openVault(despite: binding == nil ? [] : [.tpm])
        try session.expectFingers(fingers, of: vault)
        let content: EntryContent
        if arguments.has(.uriFile) || arguments.has(.qr) {
            content = .oneTimePassword(try addressed(session))
        } else {
            content = try shape.content(session)
        }
        let name = EntryName(issuer: content.issuer, account: content.account)
        let (details, missing) = change.applied(to: EntryDetails())
        if let tag = missing.first { throw CommandFailure.edit(.noSuchTag(name, tag: tag)) }
        let control = access.applied(to: .standard(for: content.kind))
        let entry = NewEntry(
            content, details: details, accessControl: control, binding: binding,
            fingers: fingers ?? false)
        let former = vault.entries
        let outcome = try session.perform(.add(entry), in: vault)
        guard case .added(let twin, let bound) = outcome else { outcome.isUnexpected() }
        if let twin { session.printer.warn("\(twin.visible) has the same key") }
        try session.print(
            bound.record + [("entry", .text(name.text)), ("result", .text("added"))],
            orNote: "Added \(name.visible)." + bound.note)
        if bound != nil { session.warnOfFormat(of: former) }
        if !session.wantsJSON, !control.presence.isPerUse {
            try printFirstCode(of: content, session)
        }
        return .done
    }

    /// Prints the current code on a terminal, because services ask for the code next.
    private static func printFirstCode(of content: EntryContent, _ session: Session) throws {
        // A counter-based code would use up a counter value.
        guard session.printer.outputIsTerminal, !session.printer.isQuiet,
            case .oneTimePassword(let credential) = content,
            case .time(let step) = credential.movingFactor
        else { return }
        let now = SystemClock.unixTime()
        // No code exists before the first period.
        guard let current = step.step(at: now), let remaining = step.remaining(at: now) else {
            return
        }
        session.warnAboutClock()
        session.printer.note("Its code, valid for \(Messages.duration(remaining)):")
        try session.printer.line(credential.generator().code(at: current).text)
    }

    /// The credential from the only URI in the file of `--uri-file` or `--qr`.
    private static func addressed(_ session: Session) throws -> Credential {
        let (text, place) = try address(session)
        return try session.credential(ofURI: text, place)
    }

    private static func address(_ session: Session) throws -> (SecretBytes, place: String) {
        if let path = session.arguments[.uriFile] {
            let source = SecretSource(path)
            return (try source.read(limit: Session.secretLimit).firstLine(), source.name)
        }
        let path = session.arguments[.qr] ?? ""
        let place = VisibleText.of(path)
        var symbols: [SecretBytes] = []
        let file = try CommandFailure.naming(visible: place) {
            try InputFile(path, acceptingPipes: true)
        }
        let outcome = try CommandFailure.naming("watchword-reader") {
            try ReaderPool().read(file.descriptor) { symbols.append(SecretBytes(copying: $0)) }
        }
        if case .refused(let refusal) = outcome {
            throw CommandFailure.pictureRefused(place, refusal)
        }
        let addresses = symbols.filter { symbol in
            let lines = symbol.withBytes(URILines.init)
            return lines.startWithURI && !lines.haveMigrations
        }
        guard addresses.count == 1 else {
            throw CommandFailure.notOneAddress(place, found: addresses.count)
        }
        return (addresses[0], place)
    }
}

extension Session {
    /// The name from NAME, `--issuer` and `--account`; `other` supplies the missing parts.
    func givenName(else other: EntryName) -> EntryName {
        let typed = arguments.operands.first.map(EntryName.init(typed:))
        return EntryName(
            issuer: arguments[.issuer] ?? typed?.issuer ?? other.issuer,
            account: arguments[.account] ?? typed?.account ?? other.account)
    }

    /// The credential from the key URI `text`, with the name from the arguments if they contain
    /// one.
    func credential(ofURI text: SecretBytes, _ place: String) throws -> Credential {
        let stated: Credential
        if let dialect = try credential(ofDialect: text, place) {
            stated = dialect
        } else {
            stated = try credential(ofPlainURI: text, place)
        }
        let name = givenName(else: EntryName(issuer: stated.issuer, account: stated.account))
        return try Credential(
            issuer: name.issuer, account: name.account, key: stated.key,
            algorithm: stated.algorithm, style: stated.style,
            movingFactor: stated.movingFactor, otherParameters: stated.otherParameters)
    }

    private func credential(ofPlainURI text: SecretBytes, _ place: String) throws -> Credential {
        let uri: KeyURI
        do {
            uri = try text.withBytes { text throws(OneTimePasswordError) in
                try KeyURI(parsing: text)
            }
        } catch {
            throw CommandFailure.keyURI(place, error)
        }
        for warning in uri.warnings {
            printer.warn("\(place): \(Messages.sentence(for: warning))")
        }
        warn(of: uri.credential)
        return uri.credential
    }

    /// Warns about deviations from the standards in `credential`.
    func warn(of credential: Credential) {
        for warning in credential.warnings { printer.warn(Messages.sentence(for: warning)) }
    }
}

// Key URIs of other apps, which only the export reader can interpret.
extension Session {
    /// The credential of a URI in a different app's dialect; `nil` if the URI has the same meaning
    /// in every dialect or is valid in none.
    fileprivate func credential(ofDialect text: SecretBytes, _ place: String) throws -> Credential?
    {
        let lines = text.withBytes(URILines.init)
        guard lines.startWithURI, !lines.arePlain, !lines.haveMigrations else { return nil }
        var exports = ExportFiles(self)
        guard case .export(let export) = try exports.read(text, of: place) else { return nil }
        guard let entry = export.entries.first, export.entries.count == 1,
            export.refusals.isEmpty
        else { return nil }
        switch entry.content {
        case .oneTimePassword(let credential):
            for warning in entry.warnings {
                printer.warn("\(place): \(Messages.sentence(for: ImportWarning(warning)))")
            }
            return credential
        case .notComputed(let code): throw CommandFailure.notComputed(place, code.kind)
        }
    }
}
