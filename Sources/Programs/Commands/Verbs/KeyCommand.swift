import CommandLineInterface
import Courier
import DeviceLogin
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `key present` and `key confirm`, which sign with a device key and print the ticket for the
/// application; and `key status`, which prints the vault's record of a key without contacting the
/// server.
enum KeyCommand {
    static func present(_ session: Session) throws -> ExitCode {
        try use(session, to: .signIn)
    }

    static func confirm(_ session: Session) throws -> ExitCode {
        let source = SecretSource(try session.needed(.challengeFile))
        let bytes = try source.read(limit: KeyConfirmation.largestFile)
        let file = bytes.withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) }
        guard let confirmation = file.flatMap({ KeyConfirmation(parsing: $0) }) else {
            throw CommandFailure.notAConfirmation(source.name)
        }
        return try use(session, to: .confirm(confirmation))
    }

    /// The message that a key signs.
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

    /// Signs after the check that the key requires.
    private static func use(_ session: Session, to purpose: Purpose) throws -> ExitCode {
        try session.requireHTTPHelper()
        // Check the option before any prompt.
        _ = try session.checkChoice()
        let address = try session.tpmAddress()
        // Show the text before any prompt, too, so that nobody enters a passphrase for an unseen
        // text.
        try show(purpose, session)
        let vault = try session.openVault(despite: [.tpm, .pinFile])
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        try session.requireDeviceKey(of: entry)
        let server = try session.server(of: entry, by: vault)
        try ask(purpose, at: server.text, afterOpening: !vault.isHeldByAgent, session)
        let order = SigningOrder(for: server, in: address)
        let request: KeyRequest =
            switch purpose {
            case .signIn: .signIn(entry.id, order)
            case .confirm(let text): .confirm(entry.id, text, order)
            }
        let response = try session.response(
            to: .key(request), of: entry, by: vault, for: purpose.use(at: server.text))
        guard case .ticket(let ticket) = response else { throw AgentFailure.malformed }
        try LoginCommand.print(ticket, for: entry, session)
        try session.recordUse(of: entry, in: vault)
        return .done
    }

    /// Shows a text as a message, even with --yes and --quiet.
    private static func show(_ purpose: Purpose, _ session: Session) throws {
        guard case .confirm(let confirmation) = purpose else { return }
        let text = ConfirmedText(confirmation)
        if !session.arguments.has(.yes) {
            // Check this before the passphrase prompt; the complete question is not known yet.
            try requireRoom(for: text, and: .confirmation(""))
        }
        session.printer.prompt(text.text)
    }

    /// Asks whether to sign the text that was shown.
    ///
    /// - Parameter afterOpening: whether this process has opened a vault since it showed the text;
    ///   prompts and messages may have scrolled the text away, so it is shown again.
    private static func ask(
        _ purpose: Purpose, at server: String, afterOpening: Bool, _ session: Session
    ) throws {
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
    /// Without a terminal, the question itself fails later.
    private static func requireRoom(for text: ConfirmedText, and question: Question) throws {
        let size: (columns: Int, rows: Int)?
        do throws(TerminalError) { size = try Terminal().size() } catch { return }
        try text.require(question, toFit: size)
    }
}

extension KeyCommand {
    static func status(_ session: Session) throws -> ExitCode {
        try LoginCommand.printStatus(session, fields: ["custody", "pin"]) { entry, vault in
            facts(of: try state(of: entry, in: vault, session))
        }
    }

    private static func state(
        of entry: EntrySummary, in vault: any OpenVault, _ session: Session
    ) throws -> KeyState {
        try session.requireDeviceKey(of: entry)
        let response = try session.response(
            to: .key(.status(entry.id)), of: entry, by: vault, for: .loginStatus)
        guard case .key(let state) = response else { throw AgentFailure.malformed }
        return state
    }

    private static func facts(of key: KeyState) -> Record {
        let facts: Record = [
            ("changed_at", .text(Timestamp(unixTime: key.changed).text)),
            ("custody", .text(key.custody.rawValue)),
            ("pin", .text(key.requiresPIN ? "required" : "none")),
            ("server", .text(key.server.text)),
        ]
        guard let credential = key.credential else {
            return facts + [("state", .text("unregistered"))]
        }
        return facts + [("credential", .text(credential.text)), ("state", .text("ready"))]
    }
}

extension Session {
    /// Refuses an entry that is not enrolled; if it was wiped, the error states the reason.
    func requireDeviceKey(of entry: EntrySummary) throws {
        do { try entry.requireEnrolledSecret() } catch {
            throw CommandFailure.deviceKey(entry.name.visible, error)
        }
        try requireHome(of: entry)
    }

    /// The server of `entry`, a device key.
    func server(of entry: EntrySummary, by vault: any OpenVault) throws -> ServerAddress {
        let response = try response(
            to: .key(.server(entry.id)), about: entry.name.visible, by: vault)
        guard case .server(let server) = response else { throw AgentFailure.malformed }
        return server
    }
}

/// `key enrol`: makes a device key and registers it with a ticket.
enum KeyEnrolCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let name = EntryName(typed: session.arguments.operands[0])
        guard !EntryName.isBlank(name.text) else { throw UsageError.emptyName }
        // Check the arguments before any prompt.
        let choice = try session.checkChoice()
        let place = try place(custody(session), session)
        let order = KeyOrder(try LoginEnrolCommand.enrolment(as: name, session), in: place)
        try session.requireHTTPHelper()
        let vault = try session.openVault(despite: [.tpm, .pinFile], enrollingUnder: choice)
        try report(enrol(order, in: vault, session), as: name, session)
        return .done
    }

    private struct Enrolled {
        let key: KeyState
        /// Whether the key was made by an earlier run, and the ticket was not sent.
        let isAdopted: Bool
    }

    /// Makes and registers a key.
    private static func enrol(
        _ order: KeyOrder, in vault: any OpenVault, _ session: Session
    ) throws -> Enrolled {
        let earlier = try LoginEnrolCommand.earlier(order.enrolment, in: vault.entries)
        try session.askToReplace(earlier, in: vault)
        // The agent applies the same rule, and decides.
        let replaced = earlier.last?.accessControl.presence ?? .perUnlock
        let presence =
            order.enrolment.access.presence
            ?? (replaced.isPerUse ? replaced : KeyEnrolment.standardAccess.presence)
        var order = order
        while true {
            switch try session.response(toEnrol: order, by: vault, requiring: presence) {
            case .key(let state): return Enrolled(key: state, isAdopted: false)
            case .adopted(let state): return Enrolled(key: state, isAdopted: true)
            case .pinNeeded where order.needsPIN:
                order = order.choosing(try session.newPIN())
            default: throw AgentFailure.malformed
            }
        }
    }

    /// `--custody`, which `--pin` and `--attest` imply.
    private static func custody(_ session: Session) throws -> String? {
        let word = try session.arguments.choice(.custody)
        let needing = [Option.pin, .attest].first { session.arguments.has($0) }
        guard let needing else { return word }
        if let word, word != "tpm" {
            throw UsageError.conflict("\(Option.custody.name) \(word)", needing.name)
        }
        return "tpm"
    }

    /// The place where a new key will be made.
    private static func place(_ custody: String?, _ session: Session) throws -> KeyOrder.Place {
        let address = try session.tpmAddress()
        return switch custody {
        case "tpm":
            .tpm(
                address, session.arguments.has(.pin) ? .wanted : .none,
                attests: session.arguments.has(.attest))
        case "vault": .vault
        default: .tpmOrVault(address)
        }
    }

    private static func report(
        _ enrolled: Enrolled, as name: EntryName, _ session: Session
    ) throws {
        let key = enrolled.key
        let server = key.server.text
        try session.print(
            [
                ("credential", .text(key.credential?.text ?? "")),
                ("custody", .text(key.custody.rawValue)), ("entry", .text(name.text)),
                ("result", .text(enrolled.isAdopted ? "resumed" : "enrolled")),
                ("server", .text(server)),
            ],
            orNote: "Enrolled \(name.visible) at \(server). The key is in "
                + "\(Messages.place(of: key)).")
        if !session.wantsJSON, enrolled.isAdopted { session.printer.note(Messages.adoptedKey) }
    }
}

extension CheckChoice {
    /// The statement in a new device key of this process about the check before its use.
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

/// A text to be signed, which must be completely visible when the question is asked.
struct ConfirmedText {
    let count: Int
    private let shown: [String]

    init(_ confirmation: KeyConfirmation) {
        // The margin distinguishes the text from the program's messages.
        shown = confirmation.lines.map { "  | " + VisibleText.of(String($0)) }
        count = shown.count
    }

    /// The text as printed, with a margin.
    var text: String { shown.joined(separator: "\n") }

    /// Refuses a text that would scroll away before `question` is answered.
    ///
    /// - Parameter size: the size of the terminal; `nil` if it is unknown.
    func require(_ question: Question, toFit size: (columns: Int, rows: Int)?) throws {
        // A terminal that reports no size probably has the usual size.
        let known = size.flatMap { $0.columns > 0 && $0.rows > 0 ? $0 : nil }
        let (columns, rows) = known ?? (80, 24)
        let needed = (shown + [question.prompt + "yes"])
            .reduce(0) { $0 + ConfirmedText.rows(of: $1, columns: columns) }
        guard needed <= rows else {
            throw CommandFailure.textTooTall(needed: needed, available: rows)
        }
    }

    /// The maximum number of rows that a line takes on a terminal that wraps it.
    static func rows(of line: String, columns: Int) -> Int {
        var (width, isWide) = (0, false)
        for scalar in line.unicodeScalars {
            switch scalar.value {
            // Characters that no terminal shows in two columns: Latin, Greek and Cyrillic.
            case 0..<0x0300, 0x0370..<0x0530: width += 1
            default:
                width += 2
                isWide = true
            }
        }
        // A wide character is not split across rows, so one column may stay empty.
        let room = max(isWide ? columns - 1 : columns, 1)
        return max((width + room - 1) / room, 1)
    }
}
