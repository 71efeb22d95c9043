import CommandLineInterface
import Courier
import DeviceLogin
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordSystem

/// `login present`: signs in and prints the ticket for the application.
enum LoginPresentCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        // Before any prompt, so that nobody types a passphrase in vain if a program is missing.
        let helper = try session.httpHelper()
        switch try session.openVault() {
        case .own(let vault): try present(in: vault, over: helper, session)
        case .held(let vault):
            let entry = try vault.entries.one(named: session.arguments.operands[0])
            try session.requireEnrolledSecret(of: entry)
            let answer = try session.answer(
                to: .signIn(entry.id), of: entry, by: vault, for: .signIn)
            guard case .ticket(let ticket) = answer else { throw .agent(.malformed) }
            try print(ticket, for: entry, session)
        }
        return .done
    }

    /// Signs in with a vault that this process has opened.
    private static func present(
        in vault: UnlockedVault, over helper: HTTPHelper, _ session: Session
    ) throws(CommandFailure) {
        var helper = helper
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
        session.printSaveReports(of: vault)
        try print(ticket, for: entry, session)
        try session.recordUse(of: entry, in: vault)
    }

    static func print(
        _ ticket: LoginTicket, for entry: EntrySummary, _ session: Session
    ) throws(CommandFailure) {
        guard session.wantsJSON else { return try session.printer.line(ticket.text) }
        try session.printer.line(
            .object([
                ("account", .text(entry.account)), ("expires_at", .text(ticket.expiresAt)),
                ("issuer", .text(entry.issuer)), ("login", .secret(ticket.text)),
                ("verification", .text(ticket.verification)),
            ]))
    }
}
