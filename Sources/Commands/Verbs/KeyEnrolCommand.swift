import Arguments
import CommandRunner
import Courier
import Cryptography
import DeviceLogin
import JSONText
import POSIX
import SecretVault
import VaultAgent

/// `key enrol`: makes a device key and registers it with a ticket.
enum KeyEnrolCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = EntryName(typed: session.arguments.operands[0])
        guard !EntryName.isBlank(name.text) else { throw .usage(.emptyName) }
        // Check the arguments before any prompt.
        let choice = try session.checkChoice()
        let custody = try custody(session)
        let order = try LoginEnrolCommand.order(as: name, session)
        var helper = try session.httpHelper()
        let vault = try session.unlock()
        let turn = try session.loginTurn(in: vault)
        let earlier = try LoginEnrolCommand.earlier(order, in: vault.entries)
        let contents = try contents(of: earlier, in: vault, session)
        let provesPresence = vault.unlockingProvesPresence
        let place = try place(order, contents, custody, session)
        let enrolment = KeyEnrolment(order.enrolment, in: place) { access in
            choice.keyPresence(under: access, unlockingProvesPresence: provesPresence)
        }
        let key: EnrolledKey
        do {
            key = try enrolment.register(
                with: order.ticket, replacing: contents, in: vault, turn: turn, over: &helper,
                now: SystemClock.unixTime(), isEarlier: order.replaces)
        } catch {
            throw .deviceKey(name.visible, error)
        }
        session.warnAboutGeneration(of: vault)
        try report(key, as: name, session)
        return .done
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
        _ order: EnrolmentOrder, _ earlier: [RecordID: EntryContent], _ custody: String?,
        _ session: Session
    ) throws(CommandFailure) -> KeyPlace {
        let address = try session.tpmAddress()
        switch custody {
        case "tpm":
            return .tpm(
                address, pin: try pin(order, earlier, session),
                attests: session.arguments.has(.attest))
        case "vault": return .vault
        default: return .tpmOrVault(address)
        }
    }

    /// The PIN of a new key; an earlier run with the same ticket has already made the key.
    private static func pin(
        _ order: EnrolmentOrder, _ earlier: [RecordID: EntryContent], _ session: Session
    ) throws(CommandFailure) -> SecretBytes? {
        guard session.arguments.has(.pin) else { return nil }
        let name = order.name.visible
        let made: EnrolledKey?
        do {
            made = try KeyEnrolment.made(for: order.enrolment, with: order.ticket, in: earlier)
        } catch {
            throw .deviceKey(name, error)
        }
        guard let made else { return try session.newPIN() }
        guard made.holding.requiresPIN else { throw .deviceKey(name, .otherPlace) }
        return nil
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
        _ key: EnrolledKey, as name: EntryName, _ session: Session
    ) throws(CommandFailure) {
        let server = key.server.text
        guard session.wantsJSON else {
            return session.printer.note(
                "Enrolled \(name.visible) at \(server). The key is in \(Messages.place(of: key)).")
        }
        try session.printer.line(
            .object([
                ("credential", .text(key.credential?.text ?? "")),
                ("custody", .text(key.custody)), ("entry", .text(name.text)),
                ("result", .text("enrolled")), ("server", .text(server)),
            ]))
    }
}
