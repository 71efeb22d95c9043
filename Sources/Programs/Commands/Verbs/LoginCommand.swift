import CommandLineInterface
import Courier
import DeviceLogin
import SecretVault
import VaultService
import WatchwordCoding

/// `login present`, which signs in and prints the ticket for the application, and `login status` and
/// `login wipe`: the local state of an enrolment, for which the server is not contacted.
enum LoginCommand {
    static func present(_ session: Session) throws -> ExitCode {
        try session.requireHTTPHelper()
        let vault = try session.openVault()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        try session.requireEnrolledSecret(of: entry)
        let answer = try session.answer(
            to: .signIn(entry.id), of: entry, by: vault, for: .signIn)
        guard case .ticket(let ticket) = answer else { throw AgentFailure.malformed }
        try print(ticket, for: entry, session)
        try session.recordUse(of: entry, in: vault)
        return .done
    }

    static func print(_ ticket: LoginTicket, for entry: EntrySummary, _ session: Session) throws {
        guard session.wantsJSON else { return try session.printer.line(ticket.text) }
        try session.printer.line(
            .object([
                ("account", .text(entry.account)), ("expires_at", .text(ticket.expiresAt)),
                ("issuer", .text(entry.issuer)), ("login", .secret(ticket.text)),
                ("verification", .text(ticket.verification)),
            ]))
    }
}

// The local state of an enrolment.
extension LoginCommand {
    static func status(_ session: Session) throws -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        var facts = facts(of: entry)
        if let wiped = LoginCommand.facts(ofWiped: entry) {
            facts += wiped
        } else {
            facts += LoginCommand.facts(of: try state(of: entry, in: vault, session))
        }
        try print(facts, session)
        return .done
    }

    /// Prints what is known about an enrolment, sorted by name.
    static func print(_ facts: [(String, JSONValue)], _ session: Session) throws {
        let facts = facts.sorted { $0.0 < $1.0 }
        guard !session.wantsJSON else { return try session.printer.line(.object(facts)) }
        for (name, value) in facts {
            let padding = String(repeating: " ", count: max(14 - name.count, 1))
            switch value {
            case .text(let text): try session.printer.line(name + padding + VisibleText.of(text))
            case .counter(let number): try session.printer.line(name + padding + String(number))
            default: continue
            }
        }
    }

    /// What is known about an entry that was wiped; `nil` for any other entry.
    static func facts(ofWiped entry: EntrySummary) -> [(String, JSONValue)]? {
        guard entry.kind == .enrolled, let tombstone = entry.tombstone else { return nil }
        guard !entry.hasVanished else { return [("state", .text("vanished"))] }
        return [
            ("state", .text("wiped")), ("reason", .text(tombstone.reason.rawValue)),
            ("wiped_at", .text(Timestamp(unixTime: tombstone.time).text)),
        ]
    }

    /// What is known about any enrolled entry.
    static func facts(of entry: EntrySummary) -> [(String, JSONValue)] {
        [
            ("account", .text(entry.account)), ("issuer", .text(entry.issuer)),
            ("enrolled_at", .text(Timestamp(unixTime: entry.created).text)),
        ]
    }

    private static func state(
        of entry: EntrySummary, in vault: any OpenVault, _ session: Session
    ) throws -> LoginState {
        try session.requireEnrolledSecret(of: entry)
        let answer = try session.answer(
            to: .status(entry.id), of: entry, by: vault, for: .loginStatus)
        guard case .state(let state) = answer else { throw AgentFailure.malformed }
        return state
    }

    private static func facts(of state: LoginState) -> [(String, JSONValue)] {
        [
            ("changed_at", .text(Timestamp(unixTime: state.changed).text)),
            ("credential", .text(state.credential.text)),
            ("generation", .counter(state.generation)), ("server", .text(state.server.text)),
            ("state", .text(state.progress.rawValue)),
        ]
    }

    static func wipe(_ session: Session) throws -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(
            toChange: session.arguments.operands[0], asks: !session.arguments.has(.yes))
        let name = entry.name.visible
        guard entry.kind == .enrolled else {
            throw CommandFailure.at(name, DeviceLoginError.otherKind)
        }
        if !session.arguments.has(.yes) {
            try Question.confirm(
                "Wipe \(name)? To sign in again, the device must be enrolled again.")
        }
        let answer = try session.answer(to: .wipe(entry.id), about: name, by: vault)
        guard case .wiped = answer else { throw AgentFailure.malformed }
        session.printer.note(
            "Wiped \(name) on this device; also revoke the credential on the server.")
        return .done
    }
}
