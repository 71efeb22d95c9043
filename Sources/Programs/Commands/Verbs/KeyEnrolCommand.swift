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

    /// A registered key.
    private struct Enrolled {
        let key: KeyState
        /// Whether it is the key of an earlier run, and the ticket was not sent.
        let isAdopted: Bool
    }

    /// Makes and registers a key.
    private static func enrol(
        _ order: KeyOrder, in vault: any OpenVault, _ session: Session
    ) throws -> Enrolled {
        let earlier = try LoginEnrolCommand.earlier(order.enrolment, in: vault.entries)
        try session.askToReplace(earlier, in: vault)
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

    /// Where the key is to be made.
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

extension CheckChoice {
    /// What a new device key that this process makes says about the check before its use.
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
