import Arguments
import CommandRunner
import JSONText
import OneTimePassword
import SecretVault

/// `code`: prints an entry's code.
enum CodeCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let moment = try session.moment()
        let vault = try session.unlock()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        switch entry.kind {
        case .totp: try timeBased(entry, in: vault, at: moment, session)
        case .hotp: try counterBased(entry, in: vault, session)
        case .secret, .enrolled, .motp, .yandex: throw .noCodes(entry.name.visible, entry.kind)
        }
        return .done
    }

    private static func timeBased(
        _ entry: EntrySummary, in vault: UnlockedVault, at moment: Int64, _ session: Session
    ) throws(CommandFailure) {
        let credential = try session.credential(of: entry, in: vault, for: .code)
        guard case .time(let step) = credential.movingFactor else {
            throw .code(.otherMovingFactor)
        }
        let offset: UInt64 = session.arguments.has(.next) ? 1 : 0
        let first: UInt64
        do { first = try step.step(at: moment) } catch { throw .code(.beforeStart) }
        let code = credential.generator().code(at: first &+ offset)
        session.warnAboutClock()
        guard session.wantsJSON else { return try session.printer.line(code.text) }
        var members: [(String, JSONValue)] = [
            ("account", .text(entry.account)), ("code", .text(code.text)),
            ("issuer", .text(entry.issuer)),
        ]
        members += CodeFacts.timeBased(step, at: moment, offset: offset)
        try session.printer.line(.object(members))
    }

    private static func counterBased(
        _ entry: EntrySummary, in vault: UnlockedVault, _ session: Session
    ) throws(CommandFailure) {
        for option in [Option.at, .next] where session.arguments.has(option) {
            throw .code(.otherMovingFactor)
        }
        guard
            case .oneTimePassword(let credential) = try session.nextCounter(of: entry, in: vault),
            case .counter(let counter) = credential.movingFactor
        else { throw .code(.otherMovingFactor) }
        let code = credential.generator().code(at: counter)
        guard session.wantsJSON else { return try session.printer.line(code.text) }
        try session.printer.line(
            .object([
                ("account", .text(entry.account)), ("code", .text(code.text)),
                ("counter", .counter(counter)), ("issuer", .text(entry.issuer)),
                ("type", .text("hotp")),
            ]))
    }
}

extension Session {
    /// Changes and saves the vault; warns if the generation was not recorded.
    @discardableResult func change<Result>(
        _ vault: UnlockedVault, _ body: (inout VaultChanges) throws(VaultError) -> Result
    ) throws(CommandFailure) -> Result {
        let result = try inVault { () throws(VaultError) in try vault.update(body) }
        for report in vault.reports {
            if case .generationNotRecorded = report {
                printer.warn(Messages.sentence(for: report, in: vault.entries))
            }
        }
        return result
    }
}
