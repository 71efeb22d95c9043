import CommandLineInterface
import Courier
import DeviceLogin
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `key enrol`: makes a device key and registers it with a ticket.
enum KeyEnrolCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = EntryName(typed: session.arguments.operands[0])
        guard !EntryName.isBlank(name.text) else { throw .usage(.emptyName) }
        // Check the arguments before any prompt.
        let choice = try session.checkChoice()
        let place = try place(custody(session), session)
        let order = KeyOrder(try LoginEnrolCommand.order(as: name, session), in: place)
        let helper = try session.httpHelper()
        let enrolled: Enrolled
        switch try session.openVault(despite: [.tpm, .pinFile]) {
        case .own(let vault): enrolled = try enrol(order, in: vault, over: helper, choice, session)
        case .held(let vault): enrolled = try enrol(order, by: vault, session)
        }
        try report(enrolled, as: name, session)
        return .done
    }

    /// A registered key.
    private struct Enrolled {
        let key: KeyState
        /// Whether it is the key of an earlier run, and the ticket was not sent.
        let isAdopted: Bool
    }

    /// Makes and registers a key with a vault that this process has opened.
    private static func enrol(
        _ order: KeyOrder, in vault: UnlockedVault, over helper: HTTPHelper,
        _ choice: CheckChoice, _ session: Session
    ) throws(CommandFailure) -> Enrolled {
        var helper = helper
        let turn = try session.loginTurn(in: vault)
        let earlier = try LoginEnrolCommand.earlier(order.enrolment, in: vault.entries)
        let contents = try contents(of: earlier, in: vault, session)
        let provesPresence = vault.unlockingProvesPresence
        // Nobody was asked if a device without a PIN opened the vault, and no check preceded the
        // replacement of an earlier enrolment.
        let wasChecked = provesPresence || earlier.contains(where: \.requiresCheckPerUse)
        let order = try choosingPIN(order, contents, session)
        let enrolment = KeyEnrolment(
            order.enrolment.enrolment, in: order.keyPlace { TPMAccess($0) }
        ) { access in
            guard wasChecked else { return .none }
            return choice.keyPresence(under: access, unlockingProvesPresence: provesPresence)
        }
        let outcome: KeyEnrolment.Outcome
        do {
            outcome = try enrolment.register(
                with: order.enrolment.ticket, replacing: contents, in: vault, turn: turn,
                over: &helper, now: SystemClock.unixTime(), isEarlier: order.enrolment.replaces)
        } catch {
            throw .deviceKey(order.enrolment.name.visible, error)
        }
        session.printSaveReports(of: vault)
        return switch outcome {
        case .registered(let key): Enrolled(key: KeyState(of: key), isAdopted: false)
        case .adopted(let key): Enrolled(key: KeyState(of: key), isAdopted: true)
        }
    }

    /// The order with the PIN of a new key; an earlier run with the same ticket may have made the key.
    private static func choosingPIN(
        _ order: KeyOrder, _ earlier: [RecordID: EntryContent], _ session: Session
    ) throws(CommandFailure) -> KeyOrder {
        let made: EnrolledKey?
        do { made = try order.made(in: earlier) } catch {
            throw .deviceKey(order.enrolment.name.visible, error)
        }
        guard made == nil, order.needsPIN else { return order }
        return order.choosing(try session.newPIN())
    }

    /// Has the agent make and register a key.
    private static func enrol(
        _ order: KeyOrder, by vault: AgentVault, _ session: Session
    ) throws(CommandFailure) -> Enrolled {
        let earlier = try LoginEnrolCommand.earlier(order.enrolment, in: vault.entries)
        _ = try session.askToReplace(earlier, in: .held(vault))
        // The same as in the agent, which has the last word.
        let replaced = earlier.last?.accessControl.presence ?? .perUnlock
        let presence =
            order.enrolment.access.presence
            ?? (replaced.isPerUse ? replaced : KeyEnrolment.standardAccess.presence)
        var order = order
        while true {
            switch try session.answer(toEnrol: order, by: vault, requiring: presence) {
            case .key(let state): return Enrolled(key: state, isAdopted: false)
            case .adopted(let state): return Enrolled(key: state, isAdopted: true)
            case .pinNeeded where order.needsPIN:
                order = order.choosing(try session.newPIN())
            default: throw .agent(.malformed)
            }
        }
    }

    /// `--custody`, which `--pin` and `--attest` imply.
    private static func custody(_ session: Session) throws(CommandFailure) -> String? {
        let word = try session.usage { () throws(UsageError) in
            try session.arguments.choice(.custody)
        }
        let needing = [Option.pin, .attest].first { session.arguments.has($0) }
        guard let needing else { return word }
        if let word, word != "tpm" {
            throw .usage(.conflict("\(Option.custody.name) \(word)", needing.name))
        }
        return "tpm"
    }

    /// Where the key is to be made.
    private static func place(
        _ custody: String?, _ session: Session
    ) throws(CommandFailure) -> KeyOrder.Place {
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

    /// The content of the earlier enrolments, opened after the confirmation that they require: one
    /// of them may be a key whose registration was interrupted.
    private static func contents(
        of earlier: [EntrySummary], in vault: UnlockedVault, _ session: Session
    ) throws(CommandFailure) -> [RecordID: EntryContent] {
        let present = earlier.filter { $0.tombstone == nil }
        var contents: [RecordID: EntryContent] = [:]
        for (index, entry) in present.enumerated() {
            contents[entry.id] = try session.content(
                of: entry, in: vault, for: .replace(number: index + 1, of: present.count))
        }
        return contents
    }

    private static func report(
        _ enrolled: Enrolled, as name: EntryName, _ session: Session
    ) throws(CommandFailure) {
        let key = enrolled.key
        let server = key.server.text
        guard session.wantsJSON else {
            session.printer.note(
                "Enrolled \(name.visible) at \(server). The key is in \(Messages.place(of: key)).")
            if enrolled.isAdopted { session.printer.note(Messages.adoptedKey) }
            return
        }
        try session.printer.line(
            .object([
                ("credential", .text(key.credential?.text ?? "")),
                ("custody", .text(key.custody.rawValue)), ("entry", .text(name.text)),
                ("result", .text(enrolled.isAdopted ? "resumed" : "enrolled")),
                ("server", .text(server)),
            ]))
    }
}
