import Arguments
import CommandRunner
import Cryptography
import JSONText
import OneTimePassword
import POSIX
import SecretVault

/// `edit`: changes an entry's access control, name, code parameters or secret.
enum EditCommand {
    /// The options that change encrypted content.
    private static let contentOptions: [Option] = [
        .algorithm, .digits, .period, .counter, .secretFile,
    ]
    private static let accessOptions: [Option] = [.presence, .onFailure]
    private static let nameOptions: [Option] = [.issuer, .account]

    private enum Verdict {
        case nameEmpty, nameTaken
        case refused(CommandFailure)
        case changed
    }

    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let arguments = session.arguments
        let options = accessOptions + nameOptions + contentOptions + DetailsChange.options
        guard options.contains(where: arguments.has) else {
            throw .usage(.needsOneOf(options.map { "--" + $0.name }))
        }
        guard arguments.has(.secretFile) || !arguments.has(.encoding) else {
            throw .usage(.needs(Option.encoding.name, with: Option.secretFile.name))
        }
        // Check the arguments before any prompt.
        _ = try session.isHex()
        let access = try AccessControlChange(session)
        let codes = try CodeChange(session)
        let details = try DetailsChange(session)
        let vault = try session.unlock()
        let entry = try vault.entries.one(named: arguments.operands[0])
        try refuseInapplicable(contentOptions, for: entry, session)
        let changesContent = contentOptions.contains(where: arguments.has)
        // Weakening access control requires the same confirmation as using the entry.
        let isChecked = changesContent || accessOptions.contains(where: arguments.has)
        if isChecked { _ = try session.content(of: entry, in: vault, for: .edit) }
        let secret = try codes.secret(for: entry.kind, session)
        var name = EntryName(entry)
        var revised: (old: EntryContent, new: EntryContent)?
        let verdict = try session.change(vault) { changes throws(VaultError) -> Verdict in
            // Another program may have changed the entry since it was checked: keep the current
            // values of all other properties.
            let now = try changes.entry(entry.id)
            let presence = now.accessControl.presence
            if isChecked, presence.isPerUse, presence != entry.accessControl.presence {
                throw .presenceNeeded
            }
            name = EntryName(
                issuer: arguments[.issuer] ?? now.issuer,
                account: arguments[.account] ?? now.account)
            guard !EntryName.isBlank(name.text) else { return .nameEmpty }
            let isRenamed = (now.issuer, now.account) != (name.issuer, name.account)
            // Check the name under the lock, so that no other program can take it.
            if isRenamed, changes.entries.contains(where: { $0.name == name && $0.id != entry.id })
            {
                return .nameTaken
            }
            // Refuse invalid options before the first change, because any change would be saved.
            let changed: EntryDetails
            do throws(CommandFailure) {
                changed = try details.applied(to: now.details, of: EntryName(now))
            } catch {
                return .refused(error)
            }
            if changesContent {
                guard now.kind == entry.kind else { throw .otherKind }
                let old = try changes.content(of: entry.id)
                let new: EntryContent
                do throws(CommandFailure) {
                    new = try codes.applied(to: old, secret)
                } catch {
                    return .refused(error)
                }
                // Only --counter can move a counter back; entering the same key again cannot.
                let kept =
                    codes.counter == nil ? try changes.content(new, notBehind: entry.id) : new
                try changes.replace(entry.id, with: kept)
                revised = (old, kept)
            }
            if isRenamed {
                try changes.rename(entry.id, issuer: name.issuer, account: name.account)
            }
            if changed != now.details { try changes.setDetails(of: entry.id, to: changed) }
            let control = access.applied(to: now.accessControl)
            if control != now.accessControl {
                try changes.setAccessControl(of: entry.id, to: control)
            }
            return .changed
        }
        switch verdict {
        case .nameEmpty: throw .usage(.emptyName)
        case .nameTaken: throw .nameTaken(name.visible)
        case .refused(let failure): throw failure
        case .changed: break
        }
        if let revised { codes.warn(of: revised.old, revised.new, session) }
        if session.wantsJSON {
            try session.printer.line(
                .object([("entry", .text(name.text)), ("result", .text("changed"))]))
        } else {
            session.printer.note("Changed \(name.visible).")
        }
        return .done
    }

    /// Refuses options that do not apply to the entry's type.
    private static func refuseInapplicable(
        _ options: [Option], for entry: EntrySummary, _ session: Session
    ) throws(CommandFailure) {
        let foreign: [Option] =
            switch entry.kind {
            case .totp: [.counter]
            case .hotp: [.period]
            case .secret: [.algorithm, .digits, .period, .counter, .encoding]
            case .enrolled, .motp, .yandex: options
            }
        for option in foreign where session.arguments.has(option) {
            throw .usage(.conflict("type \(entry.kind.rawValue)", option.name))
        }
    }
}

/// The changes to an entry's codes and secret that the options request.
struct CodeChange {
    let algorithm: HashAlgorithm?
    let length: CodeLength?
    let period: Int64?
    let counter: UInt64?
    let hasSecret: Bool

    /// Parses `--algorithm`, `--digits`, `--period`, `--counter` and `--secret-file`.
    init(_ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        algorithm = arguments.has(.algorithm) ? try session.algorithm() : nil
        if arguments.has(.digits), case .decimal(let given) = try session.style() {
            length = given
        } else {
            length = nil
        }
        period = arguments.has(.period) ? try session.timeStep().period : nil
        counter = arguments.has(.counter) ? try session.counter() : nil
        hasSecret = arguments.has(.secretFile)
    }

    /// Reads the new secret, if there is one.
    func secret(for kind: EntryKind, _ session: Session) throws(CommandFailure) -> SecretBytes? {
        guard hasSecret else { return nil }
        return kind == .secret ? try session.plainSecret() : try session.key()
    }

    /// `content` with the changes, and with `secret` if it is not `nil`.
    func applied(to content: EntryContent, _ secret: SecretBytes?) throws(CommandFailure)
        -> EntryContent
    {
        switch content {
        case .oneTimePassword(let old): return .oneTimePassword(try changed(old, secret))
        case .plainSecret(let issuer, let account, let value):
            return .plainSecret(issuer: issuer, account: account, value: secret ?? value)
        case .enrolledSecret, .uncomputed: return content
        }
    }

    /// Warns about deviations from the standards, and about codes that will repeat.
    func warn(of old: EntryContent, _ new: EntryContent, _ session: Session) {
        guard case .oneTimePassword(let old) = old, case .oneTimePassword(let new) = new else {
            return
        }
        if !hasSecret, case .counter(let reached) = old.movingFactor,
            case .counter(let next) = new.movingFactor, next < reached
        {
            session.printer.warn("the counter moves back; codes that were already used will repeat")
        }
        session.warn(of: new)
    }

    private func changed(_ old: Credential, _ secret: SecretBytes?) throws(CommandFailure)
        -> Credential
    {
        let factor: MovingFactor
        switch old.movingFactor {
        case .time(let step):
            do {
                factor = .time(try TimeStep(period: period ?? step.period, start: step.start))
            } catch {
                throw .usage(.badValue(Option.period.name, expected: "a whole number of seconds"))
            }
        // A new key starts at counter 0.
        case .counter(let reached): factor = .counter(counter ?? (secret == nil ? reached : 0))
        }
        do {
            return try Credential(
                issuer: old.issuer, account: old.account, key: secret ?? old.key,
                algorithm: algorithm ?? old.algorithm,
                style: length.map(CodeStyle.decimal) ?? old.style, movingFactor: factor,
                otherParameters: old.otherParameters)
        } catch {
            throw .credential(error)
        }
    }
}
