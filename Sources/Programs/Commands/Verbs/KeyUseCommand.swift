import CommandLineInterface
import Courier
import DeviceLogin
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// `key present` and `key confirm`: a device key signs, and the ticket for the application is
/// printed.
enum KeyUseCommand {
    static func present(_ session: Session) throws(CommandFailure) -> ExitCode {
        try use(session, to: .signIn)
    }

    static func confirm(_ session: Session) throws(CommandFailure) -> ExitCode {
        let source = SecretSource(try session.needed(.challengeFile))
        let bytes = try source.read(limit: KeyConfirmation.largestFile)
        let file = bytes.withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) }
        guard let confirmation = file.flatMap({ KeyConfirmation(parsing: $0) }) else {
            throw .notAConfirmation(source.name)
        }
        return try use(session, to: .confirm(confirmation))
    }

    /// What a key signs.
    private enum Purpose {
        case signIn
        case confirm(KeyConfirmation)

        func use(at server: String) -> EntryUse {
            switch self {
            case .signIn: .signInTo(server)
            case .confirm: .confirmText(server)
            }
        }
    }

    /// Signs after the confirmation that the key requires.
    private static func use(
        _ session: Session, to purpose: Purpose
    ) throws(CommandFailure) -> ExitCode {
        // Before any prompt, so that nobody types a passphrase in vain if a program is missing.
        let helper = try session.httpHelper()
        let choice = try session.checkChoice()
        let address = try session.tpmAddress()
        // Also before any prompt, so that nobody enters a passphrase for a text not yet seen.
        try show(purpose, session)
        let name = session.arguments.operands[0]
        switch try session.openVault(despite: [.tpm, .pinFile]) {
        case .own(let vault):
            let turn = try session.loginTurn(in: vault)
            let entry = try vault.entries.one(named: name)
            try session.requireDeviceKey(of: entry)
            let server = try session.inVault { () throws(VaultError) in
                try vault.server(of: entry.id)
            }
            try ask(purpose, at: server ?? "", afterOpening: true, session)
            let content = try session.content(
                of: entry, in: vault, for: purpose.use(at: server ?? ""))
            let presence = choice.keyPresence(
                under: entry.accessControl,
                unlockingProvesPresence: vault.unlockingProvesPresence)
            let key = OpenedKey(content: content, entry: entry, presence: presence)
            let ticket = try sign(
                purpose, with: key, in: vault, turn, over: helper, TPMAccess(address), session)
            try LoginPresentCommand.print(ticket, for: entry, session)
            try session.recordUse(of: entry, in: vault)
        case .held(let vault):
            let entry = try vault.entries.one(named: name)
            try session.requireDeviceKey(of: entry)
            let server = try session.server(of: entry, by: vault)
            try ask(purpose, at: server.text, afterOpening: false, session)
            let order = SigningOrder(for: server, in: address)
            let task: KeyTask =
                switch purpose {
                case .signIn: .signIn(entry.id, order)
                case .confirm(let text): .confirm(entry.id, text, order)
                }
            let answer = try session.answer(
                to: .key(task), of: entry, by: vault, for: purpose.use(at: server.text))
            guard case .ticket(let ticket) = answer else { throw .agent(.malformed) }
            try LoginPresentCommand.print(ticket, for: entry, session)
        }
        return .done
    }

    /// Shows a text, even with --yes and --quiet, but not among the results.
    private static func show(_ purpose: Purpose, _ session: Session) throws(CommandFailure) {
        guard case .confirm(let confirmation) = purpose else { return }
        let text = ConfirmedText(confirmation)
        if !session.arguments.has(.yes) {
            // Before anybody enters a passphrase. The whole question is not known yet.
            try requireRoom(for: text, and: .confirmation(""))
        }
        session.printer.prompt(text.text)
    }

    /// Asks whether to sign the text that was shown.
    ///
    /// - Parameter afterOpening: whether this process has opened a vault since it showed the text; its
    ///   prompts and messages may have scrolled the text away, so it is shown again.
    private static func ask(
        _ purpose: Purpose, at server: String, afterOpening: Bool, _ session: Session
    ) throws(CommandFailure) {
        guard case .confirm(let confirmation) = purpose, !session.arguments.has(.yes) else {
            return
        }
        let text = ConfirmedText(confirmation)
        let count = text.count == 1 ? "this line" : "these \(text.count) lines"
        let words = "Sign \(count) for \(VisibleText.of(server))?"
        try requireRoom(for: text, and: .confirmation(words))
        let isElsewhere = !session.printer.errorIsTerminal
        try Question.confirm(
            afterOpening || isElsewhere ? text.text + "\n" + words : words)
    }

    /// Refuses a text that does not fit on the terminal.
    ///
    /// Without a terminal, the question fails.
    private static func requireRoom(
        for text: ConfirmedText, and question: Question
    ) throws(CommandFailure) {
        let size: (columns: Int, rows: Int)?
        do throws(TerminalError) { size = try Terminal().size() } catch { return }
        try text.require(question, toFit: size)
    }

    /// A key that this process has opened.
    private struct OpenedKey {
        let content: EntryContent
        let entry: EntrySummary
        let presence: DeviceKeyTranscript.Presence
    }

    private static func sign(
        _ purpose: Purpose, with key: OpenedKey, in vault: UnlockedVault,
        _ turn: borrowing LoginLock, over helper: HTTPHelper, _ tpm: TPMAccess,
        _ session: Session
    ) throws(CommandFailure) -> LoginTicket {
        var helper = helper
        var person = TokenPerson(session: session, token: .tpm, purpose: nil)
        let now = SystemClock.unixTime()
        do {
            let login = try KeyLogin(
                key.content, of: key.entry.id, in: vault, presence: key.presence, tpm: tpm)
            return switch purpose {
            case .signIn:
                try login.signIn(turn: turn, over: &helper, asking: &person, now: now)
            case .confirm(let text):
                try login.confirm(text, turn: turn, over: &helper, asking: &person, now: now)
            }
        } catch {
            // Why there was no PIN says more than that there was none.
            if let failure = person.failure { throw failure }
            throw .deviceKey(key.entry.name.visible, error)
        }
    }
}

extension Session {
    /// Refuses an entry that is not enrolled; if it was wiped, the error states the reason.
    func requireDeviceKey(of entry: EntrySummary) throws(CommandFailure) {
        do throws(DeviceLoginError) { try entry.requireEnrolledSecret() } catch {
            throw .deviceKey(entry.name.visible, error)
        }
    }

    /// The server of `entry`, a device key.
    func server(
        of entry: EntrySummary, by vault: AgentVault
    ) throws(CommandFailure) -> ServerAddress {
        let answer = try answer(
            to: .key(.server(entry.id)), about: entry.name.visible, by: vault)
        guard case .server(let server) = answer else { throw .agent(.malformed) }
        return server
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
