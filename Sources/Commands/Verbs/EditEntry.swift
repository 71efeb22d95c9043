import Arguments
import Cryptography
import JSONText
import OneTimePassword
import POSIX
import SecretVault

/// `edit`: an entry's access control, its name, how its codes are made, its secret.
enum EditEntry {
    /// What changes what is sealed.
    private static let contentOptions: [Option] = [
        .algorithm, .digits, .period, .counter, .secretFile,
    ]
    private static let accessOptions: [Option] = [.presence, .onFailure]
    private static let nameOptions: [Option] = [.issuer, .account]

    private enum Verdict { case nameEmpty, nameTaken, changed }

    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let arguments = session.arguments
        let options = accessOptions + nameOptions + contentOptions
        guard options.contains(where: arguments.has) else {
            throw .usage(.needsOneOf(options.map { "--" + $0.name }))
        }
        // What can be wrong with the arguments is said before anybody is asked for anything.
        let access = try AccessControlChange(session)
        let codes = try CodeChange(session)
        let vault = try session.unlock()
        let entry = try vault.entries.one(named: arguments.operands[0])
        try refuseForeign(contentOptions, for: entry, session)
        // Who may not use an entry may not make it easier to use, either.
        var opened: EntryContent?
        var content: EntryContent?
        if (accessOptions + contentOptions).contains(where: arguments.has) {
            opened = try session.content(of: entry, in: vault, for: .edit)
        }
        if contentOptions.contains(where: arguments.has), let opened {
            content = try codes.applied(to: opened, session)
        }
        var name = EntryName(entry)
        let verdict = try session.change(vault) { changes throws(VaultError) -> Verdict in
            // Another program may have changed what is left open here.
            let now = try changes.entry(entry.id)
            name = EntryName(
                issuer: arguments[.issuer] ?? now.issuer,
                account: arguments[.account] ?? now.account)
            guard !EntryName.isBlank(name.text) else { return .nameEmpty }
            // Whether the name is free is known for sure only while nobody else can take it.
            if changes.entries.contains(where: { $0.name == name && $0.id != entry.id }) {
                return .nameTaken
            }
            if let content, let opened {
                // What was opened must still be there: a new secret that another program saved, or a
                // wipe, is not undone.
                guard try changes.entries(equivalentTo: opened).contains(entry.id) else {
                    throw .entryChanged
                }
                // A counter goes back when that is asked for, never because another program was quicker.
                let kept =
                    codes.counter == nil
                    ? try changes.content(content, notBehind: entry.id) : content
                try changes.replace(entry.id, with: kept)
            }
            let (issuer, account) = (content?.issuer ?? now.issuer, content?.account ?? now.account)
            if (issuer, account) != (name.issuer, name.account) {
                try changes.rename(entry.id, issuer: name.issuer, account: name.account)
            }
            let control = access.applied(to: now.accessControl)
            if control != now.accessControl {
                try changes.setAccessControl(of: entry.id, to: control)
            }
            return .changed
        }
        switch verdict {
        case .nameEmpty: throw .usage(.emptyName)
        case .nameTaken: throw .nameTaken(name.visible)
        case .changed: break
        }
        if session.wantsJSON {
            try session.printer.line(
                .object([("entry", .text(name.text)), ("result", .text("changed"))]))
        } else {
            session.printer.note("Changed \(name.visible).")
        }
        return .done
    }

    /// Refuses the options that mean nothing for the entry's kind.
    private static func refuseForeign(
        _ options: [Option], for entry: EntrySummary, _ session: Session
    ) throws(CommandFailure) {
        let foreign: [Option] =
            switch entry.kind {
            case .totp: [.counter]
            case .hotp: [.period]
            case .secret: [.algorithm, .digits, .period, .counter]
            case .enrolled: options
            }
        for option in foreign where session.arguments.has(option) {
            throw .usage(.conflict("type \(entry.kind.rawValue)", option.name))
        }
    }
}

/// What options change in the way an entry's codes are made.
struct CodeChange {
    let algorithm: HashAlgorithm?
    let length: CodeLength?
    let period: Int64?
    let counter: UInt64?
    let hasSecret: Bool

    /// Understands `--algorithm`, `--digits`, `--period`, `--counter` and `--secret-file`.
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

    /// `content` with what was asked for; reads the secret where there is a new one.
    func applied(to content: EntryContent, _ session: Session) throws(CommandFailure)
        -> EntryContent
    {
        switch content {
        case .oneTimePassword(let old):
            let credential = try changed(old, session)
            session.warn(of: credential)
            return .oneTimePassword(credential)
        case .plainSecret(let issuer, let account, _):
            return .plainSecret(
                issuer: issuer, account: account, value: try session.plainSecret())
        case .enrolledSecret: return content
        }
    }

    private func changed(_ old: Credential, _ session: Session) throws(CommandFailure)
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
        case .counter(let reached):
            // A new key starts anew.
            let new = counter ?? (hasSecret ? 0 : reached)
            if !hasSecret, new < reached {
                session.printer.warn("the counter goes back; codes that were shown will repeat")
            }
            factor = .counter(new)
        }
        let key = hasSecret ? try session.key() : old.key
        do {
            return try Credential(
                issuer: old.issuer, account: old.account, key: key,
                algorithm: algorithm ?? old.algorithm,
                style: length.map(CodeStyle.decimal) ?? old.style, movingFactor: factor,
                otherParameters: old.otherParameters)
        } catch {
            throw .credential(error)
        }
    }
}
