import CommandLineInterface
import Courier
import DeviceLogin
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography

/// `login enrol`: exchanges a ticket for a secret and stores it in the vault.
enum LoginEnrolCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let name = EntryName(typed: session.arguments.operands[0])
        guard !EntryName.isBlank(name.text) else { throw UsageError.emptyName }
        // Check the arguments before any prompt.
        let enrolment = try enrolment(as: name, session)
        try session.requireHTTPHelper()
        let vault = try session.openVault()
        try session.askToReplace(earlier(enrolment, in: vault.entries), in: vault)
        let answer = try session.answer(to: .enrol(enrolment), about: name.visible, by: vault)
        guard case .enrolled(let enrolled, let address) = answer else {
            throw AgentFailure.malformed
        }
        let (credential, server) = (enrolled.text, address.text)
        if session.wantsJSON {
            try session.printer.line(
                .object([
                    ("credential", .text(credential)), ("entry", .text(name.text)),
                    ("result", .text("enrolled")), ("server", .text(server)),
                ]))
        } else {
            session.printer.note("Enrolled \(name.visible) at \(server).")
        }
        return .done
    }

    /// The earlier enrolments under the name; another kind of entry must not have it.
    static func earlier(
        _ enrolment: Enrolment, in entries: [EntrySummary]
    ) throws -> [EntrySummary] {
        let earlier = entries.filter(enrolment.replaces)
        guard earlier.allSatisfy({ $0.kind == .enrolled }) else {
            throw CommandFailure.nameTaken(enrolment.name.visible)
        }
        return earlier
    }

    static func enrolment(as name: EntryName, _ session: Session) throws -> Enrolment {
        let server: ServerAddress
        switch ServerAddress.parse(try session.needed(.server)) {
        case .address(let address): server = address
        case .invalid(let part):
            throw UsageError.badValue(Option.server.name, expected: Messages.expectation(of: part))
        }
        var authorities: [UInt8] = []
        if let path = session.arguments[.caFile] {
            let bytes = try SecretSource(path).read(limit: Enrolment.largestAuthorities)
            authorities = bytes.withBytes { bytes in [UInt8](copying: bytes) }
        }
        let deviceName = session.arguments[.deviceName] ?? ""
        guard deviceName.utf8.count <= Enrolment.longestDeviceName else {
            let expected = "at most \(Enrolment.longestDeviceName) bytes long"
            throw UsageError.badValue(Option.deviceName.name, expected: expected)
        }
        let access = try AccessControlChange(session)
        let source = SecretSource(try session.needed(.ticketFile))
        let ticket = try source.readFirstLine(limit: Session.secretLimit)
        guard Token.isToken(ticket) else {
            throw CommandFailure.at(source.name, DeviceLoginError.badTicket)
        }
        return Enrolment(
            ticket, at: TrustedServer(server, authorities: authorities), deviceName: deviceName,
            name: name, access: access)
    }
}

extension Session {
    /// The value of a required option.
    func needed(_ option: Option) throws -> String {
        guard let value = arguments[option] else {
            throw UsageError.needsOneOf(["--\(option.name)"])
        }
        return value
    }

    /// Requires the helper process for HTTP, before any prompt: nobody types a passphrase in vain if
    /// the program is missing.
    func requireHTTPHelper() throws {
        do { _ = try HTTPHelper() } catch {
            throw CommandFailure.at("watchword-courier", DeviceLoginError.helper(error))
        }
    }
}
