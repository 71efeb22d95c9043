import Arguments
import CommandRunner
import Courier
import Cryptography
import DeviceLogin
import POSIX
import SecretVault
import VaultAgent

/// `key present` and `key confirm`: a device key signs, and the ticket for the application is
/// printed.
enum KeyUseCommand {
    static func present(_ session: Session) throws(CommandFailure) -> ExitCode {
        try use(session) { server in
            .signInTo(server)
        } sign: {
            login, turn, helper, person throws(DeviceLoginError) in
            try login.signIn(
                turn: turn, over: &helper, asking: &person, now: SystemClock.unixTime())
        }
    }

    static func confirm(_ session: Session) throws(CommandFailure) -> ExitCode {
        let source = SecretSource(try session.needed(.challengeFile))
        let bytes = try source.read(limit: KeyConfirmation.largestFile)
        let file = bytes.withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) }
        guard let confirmation = file.flatMap({ KeyConfirmation(parsing: $0) }) else {
            throw .notAConfirmation(source.name)
        }
        return try use(session) { server throws(CommandFailure) in
            // The text is shown even with --yes and --quiet, but not among the results.
            // The margin tells the text from what the program says.
            let lines = confirmation.lines
            for line in lines { session.printer.prompt("  | " + VisibleText.of(String(line))) }
            if !session.arguments.has(.yes) {
                let what = lines.count == 1 ? "this line" : "these \(lines.count) lines"
                try Question.confirm("Sign \(what) for \(VisibleText.of(server))?")
            }
            return .confirmText(server)
        } sign: { login, turn, helper, person throws(DeviceLoginError) in
            try login.confirm(
                confirmation, turn: turn, over: &helper, asking: &person,
                now: SystemClock.unixTime())
        }
    }

    /// Opens a key after the confirmation that it requires, and signs.
    ///
    /// - Parameter purpose: what the key is used for, given its server.
    private static func use(
        _ session: Session,
        for purpose: (String) throws(CommandFailure) -> EntryUse,
        sign: (KeyLogin, borrowing LoginLock, inout HTTPHelper, inout TokenPerson)
            throws(DeviceLoginError) -> LoginTicket
    ) throws(CommandFailure) -> ExitCode {
        // Before any prompt, so that nobody types a passphrase in vain if a program is missing.
        var helper = try session.httpHelper()
        let choice = try session.checkChoice()
        let address = try session.tpmAddress()
        let vault = try session.unlock()
        let turn = try session.loginTurn(in: vault)
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        try session.requireDeviceKey(of: entry)
        let server = try session.inVault { () throws(VaultError) in try vault.server(of: entry.id) }
        let content = try session.content(of: entry, in: vault, for: purpose(server ?? ""))
        let presence = choice.keyPresence(
            under: entry.accessControl, unlockingProvesPresence: vault.unlockingProvesPresence)
        var person = TokenPerson(session: session, token: .tpm, purpose: nil)
        let ticket: LoginTicket
        do {
            let login = try KeyLogin(
                content, of: entry.id, in: vault, presence: presence, tpm: address)
            ticket = try sign(login, turn, &helper, &person)
        } catch {
            // Why there was no PIN says more than that there was none.
            if let failure = person.failure { throw failure }
            throw .deviceKey(entry.name.visible, error)
        }
        try LoginPresentCommand.print(ticket, for: entry, session)
        try session.recordUse(of: entry, in: vault)
        return .done
    }
}

extension Session {
    /// Refuses an entry that is not enrolled; if it was wiped, the error states the reason.
    func requireDeviceKey(of entry: EntrySummary) throws(CommandFailure) {
        do throws(DeviceLoginError) { try entry.requireEnrolledSecret() } catch {
            throw .deviceKey(entry.name.visible, error)
        }
    }
}

extension CheckChoice {
    /// What a device key says about the check before its use.
    func keyPresence(
        under access: AccessControl, unlockingProvesPresence: Bool
    ) -> DeviceKeyTranscript.Presence {
        guard access.presence.isPerUse else {
            return unlockingProvesPresence ? .cryptographic : .none
        }
        return switch check(for: access.presence) {
        case .passphrase: .cryptographic
        case .pam: .advisory
        }
    }
}
