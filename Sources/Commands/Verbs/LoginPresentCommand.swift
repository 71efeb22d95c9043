import Arguments
import CommandRunner
import DeviceLogin
import JSONText
import POSIX
import SecretVault

/// `login present`: signs in and prints the ticket for the application.
enum LoginPresentCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        var helper = try session.httpHelper()
        let vault = try session.unlock()
        let turn = try session.loginTurn(in: vault)
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        let content = try session.enrolledContent(of: entry, in: vault, for: .signIn)
        let ticket: LoginTicket
        do {
            var login = try EnrolledLogin(content, of: entry.id, in: vault)
            ticket = try login.signIn(
                turn: turn, over: &helper, now: SystemClock.unixTime())
        } catch {
            throw .login(entry.name.visible, error)
        }
        session.warnAboutGeneration(of: vault)
        guard session.wantsJSON else {
            try session.printer.line(ticket.text)
            try session.recordUse(of: entry, in: vault)
            return .done
        }
        try session.printer.line(
            .object([
                ("account", .text(entry.account)), ("expires_at", .text(ticket.expiresAt)),
                ("issuer", .text(entry.issuer)), ("login", .secret(ticket.text)),
                ("verification", .text(ticket.verification)),
            ]))
        try session.recordUse(of: entry, in: vault)
        return .done
    }
}

extension Session {
    /// Opens `entry`, an enrolled secret; if it was wiped, the error states the reason.
    func enrolledContent(of entry: EntrySummary, in vault: UnlockedVault, for use: EntryUse)
        throws(CommandFailure) -> EntryContent
    {
        guard entry.kind == .enrolled else { throw .login(entry.name.visible, .otherKind) }
        if let tombstone = entry.tombstone {
            throw .login(entry.name.visible, .wiped(tombstone.reason))
        }
        return try content(of: entry, in: vault, for: use)
    }
}
