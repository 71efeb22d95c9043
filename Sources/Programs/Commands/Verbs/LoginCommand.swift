import CommandLineInterface
import Courier
import DeviceLogin
import Devices
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `login present`, which signs in and prints the ticket for the application; and `login status`
/// and `login wipe`, which concern the local state of an enrolment and do not contact the server.
enum LoginCommand {
    static func present(_ session: Session) throws -> ExitCode {
        try session.requireHTTPHelper()
        let vault = try session.openVault()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        try session.requireEnrolledSecret(of: entry)
        let response = try session.response(
            to: .signIn(entry.id), of: entry, by: vault, for: .signIn)
        guard case .ticket(let ticket) = response else { throw AgentFailure.malformed }
        try print(ticket, for: entry, session)
        try session.recordUse(of: entry, in: vault)
        return .done
    }

    static func print(_ ticket: LoginTicket, for entry: EntrySummary, _ session: Session) throws {
        try session.print(
            [
                ("account", .text(entry.account)), ("expires_at", .text(ticket.expiresAt)),
                ("issuer", .text(entry.issuer)), ("login", .secret(ticket.text)),
                ("verification", .text(ticket.verification)),
            ], orSecret: ticket.text)
    }
}

// The local state of an enrolment.
extension LoginCommand {
    static func status(_ session: Session) throws -> ExitCode {
        try printStatus(session, fields: ["generation"]) { entry, vault in
            facts(of: try state(of: entry, in: vault, session))
        }
    }

    /// Prints the local state of an enrolment.
    ///
    /// - Parameters:
    ///   - fields: the fields that only this kind of enrolment has.
    ///   - state: returns the facts about an enrolment that was not wiped.
    static func printStatus(
        _ session: Session, fields: [String], state: (EntrySummary, any OpenVault) throws -> Record
    ) throws -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        let record = try facts(of: entry) + (facts(ofWiped: entry) ?? state(entry, vault))
        let common = ["changed_at", "credential", "reason", "server", "wiped_at"]
        try session.print(record.filling(common + fields).byName, width: 14)
        return .done
    }

    /// The facts about a wiped entry; `nil` for any other entry.
    private static func facts(ofWiped entry: EntrySummary) -> Record? {
        guard entry.kind == .enrolled, let tombstone = entry.tombstone else { return nil }
        guard !entry.hasVanished else { return [("state", .text("vanished"))] }
        return [
            ("state", .text("wiped")), ("reason", .text(tombstone.reason.rawValue)),
            ("wiped_at", .text(Timestamp(unixTime: tombstone.time).text)),
        ]
    }

    /// The facts about any enrolled entry.
    private static func facts(of entry: EntrySummary) -> Record {
        [
            ("account", .text(entry.account)), ("issuer", .text(entry.issuer)),
            ("enrolled_at", .text(Timestamp(unixTime: entry.created).text)),
        ]
    }

    private static func state(
        of entry: EntrySummary, in vault: any OpenVault, _ session: Session
    ) throws -> LoginState {
        try session.requireEnrolledSecret(of: entry)
        let response = try session.response(
            to: .status(entry.id), of: entry, by: vault, for: .loginStatus)
        guard case .state(let state) = response else { throw AgentFailure.malformed }
        return state
    }

    private static func facts(of state: LoginState) -> Record {
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
        let response = try session.response(to: .wipe(entry.id), about: name, by: vault)
        guard case .wiped = response else { throw AgentFailure.malformed }
        session.printer.note(
            "Wiped \(name) on this device; also revoke the credential on the server.")
        return .done
    }
}

/// `login enrol`: exchanges a ticket for a secret and stores it in the vault.
enum LoginEnrolCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let name = EntryName(typed: session.arguments.operands[0])
        guard !EntryName.isBlank(name.text) else { throw UsageError.emptyName }
        // Check the arguments before any prompt.
        var enrolment = try enrolment(as: name, session)
        enrolment.binding = try session.binding(named: enrolment.deviceName, byDefault: true)
        try session.requireHTTPHelper()
        let vault = try session.openVault(despite: enrolment.binding == nil ? [] : [.tpm])
        let former = vault.entries
        try session.askToReplace(earlier(enrolment, in: former), in: vault)
        let response = try session.response(to: .enrol(enrolment), about: name.visible, by: vault)
        guard case .enrolled(let enrolled, let address, let bound) = response else {
            throw AgentFailure.malformed
        }
        let (credential, server) = (enrolled.text, address.text)
        try session.print(
            bound.record + [
                ("credential", .text(credential)), ("entry", .text(name.text)),
                ("result", .text("enrolled")), ("server", .text(server)),
            ], orNote: "Enrolled \(name.visible) at \(server)." + bound.note)
        if bound != nil { session.warnOfFormat(of: former) }
        return .done
    }

    /// The earlier enrolments under the name; throws if the name belongs to a different kind of
    /// entry, or if an enrolment is bound to a different device.
    static func earlier(
        _ enrolment: Enrolment, in entries: [EntrySummary]
    ) throws -> [EntrySummary] {
        let earlier = entries.filter(enrolment.replaces)
        guard earlier.allSatisfy({ $0.kind == .enrolled }) else {
            throw CommandFailure.nameTaken(enrolment.name.visible)
        }
        if let other = earlier.first(where: { !$0.isHere }) {
            throw CommandFailure.closed(other, .boundElsewhere)
        }
        return earlier
    }

    static func enrolment(as name: EntryName, _ session: Session) throws -> Enrolment {
        let server: ServerAddress
        switch ServerAddress.parse(try session.needed(.server)) {
        case .address(let address): server = address
        case .invalid(let part):
            throw UsageError.badValue(
                Option.server.name, expected: CourierMessages.expectation(of: part))
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
        guard Enrolment.isTicket(ticket) else {
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
            throw UsageError.missingOption(option.name)
        }
        return value
    }

    /// Requires the helper process for HTTP before any prompt, so that nobody types a passphrase in
    /// vain if the program is missing.
    func requireHTTPHelper() throws {
        _ = try CommandFailure.naming("watchword-courier") { try HTTPHelper() }
    }
}

// Signing in: the command never receives the enrolled secret or the device key.
extension Session {
    /// The response to a request that uses `entry`, after the check that the entry requires.
    func response(
        to request: LoginRequest, of entry: EntrySummary, by vault: any OpenVault, for use: EntryUse
    ) throws -> LoginResponse {
        let encoded = try encoded(request)
        let response = try response(for: entry, in: vault, for: use) { presence in
            .login(vault.place, encoded, presence)
        }
        return try loginResponse(
            to: request, in: response, about: entry.name.visible, by: vault)
    }

    /// The response to a request about `name`, for which checks were made before.
    func response(
        to request: LoginRequest, about name: String, by vault: any OpenVault
    ) throws -> LoginResponse {
        let response = try vault.send(.login(vault.place, encoded(request), .none))
        return try loginResponse(
            to: request, in: expected(response, by: vault), about: name, by: vault)
    }

    /// The response to the enrolment of a device key, after the check that the new key requires,
    /// unless an earlier check counts.
    func response(
        toEnrol order: KeyOrder, by vault: any OpenVault, requiring presence: AccessControl.Presence
    ) throws -> LoginResponse {
        let name = order.enrolment.name
        let enrolment = LoginRequest.key(.enrol(order))
        let encoded = try encoded(enrolment)
        func request(_ presence: AgentPresence) -> AgentRequest {
            .login(vault.place, encoded, presence)
        }
        var response = try vault.send(request(.none))
        // If this process has opened the vault, a check at this point would have no effect.
        if vault.isHeldByAgent, case .failed(.presenceNeeded) = response {
            let use = EntryUse.enrolAt(order.enrolment.server.address.text)
            response = try responseAfterCheck(
                presence, of: name, by: vault, for: use, request)
        }
        return try loginResponse(
            to: enrolment, in: expected(response, by: vault), about: name.visible, by: vault)
    }

    /// Sends a request about an entry that does not exist yet, after the check that it will
    /// require.
    private func responseAfterCheck(
        _ required: AccessControl.Presence, of name: EntryName, by vault: any OpenVault,
        for use: EntryUse, _ request: (AgentPresence) -> AgentRequest
    ) throws -> AgentResponse {
        let purpose = Messages.purpose(of: use, name)
        let person = RelayedQuestions(
            purpose: purpose, until: vault.endOfQuestion, session: self)
        func attempt(_ presence: AgentPresence) throws -> AgentResponse {
            let began = SystemClock.unixTime()
            let response = try vault.send(request(presence), asking: person.answer)
            switch response {
            case .failed(let error):
                throw refusal(error, at: vault.path) {
                    try status(of: vault, since: began)
                }
            case .refused(let cost):
                throw CommandFailure.presence(
                    .refused(name, cost, KeyEnrolment.standardAccess.onFailure))
            case .noVerdict(let failure):
                throw CommandFailure.presence(.pam(name, person.explained(failure), required))
            default: return response
            }
        }
        guard try checkChoice().check(for: required) == .passphrase else {
            return try attempt(.modules(purpose))
        }
        // The secret that opened the vault for this command also passes the check of its first use.
        if let opener = vault.opener, opener.provesPresence { return try attempt(.opener(opener)) }
        return try attempting(vault.path) {
            try lockOut(of: vault)
        } unlock: {
            try attempt(
                .opener(
                    openerAgain(for: purpose, of: name, among: vault.slots, openedBy: nil)))
        }
    }

    /// Extracts the response to a request from that of the process that holds the vault.
    private func loginResponse(
        to request: LoginRequest, in response: AgentResponse, about name: String,
        by vault: any OpenVault
    ) throws -> LoginResponse {
        guard case .login(let encoded, let reports) = response else {
            throw AgentFailure.malformed
        }
        printReports(reports, of: vault.entries)
        let found: LoginResponse
        do throws(FieldReader.Unreadable) {
            found = try encoded.withBytes { bytes throws(FieldReader.Unreadable) in
                try LoginResponse(parsing: bytes)
            }
        } catch {
            throw AgentFailure.malformed
        }
        switch found {
        case .failed(let error):
            if case .key = request { throw CommandFailure.deviceKey(name, error) }
            throw CommandFailure.at(name, error)
        case .nameTaken: throw CommandFailure.nameTaken(name)
        default: return found
        }
    }

    private func encoded(_ request: LoginRequest) throws -> SecretBytes {
        do throws(SystemCallFailure) { return try SecretBytes(encoding: request) } catch {
            throw AgentFailure.system(error)
        }
    }

    /// Refuses an entry without an enrolled secret; if it was wiped, the error states the reason.
    func requireEnrolledSecret(of entry: EntrySummary) throws {
        try CommandFailure.naming(visible: entry.name.visible) { try entry.requireEnrolledSecret() }
        try requireHome(of: entry)
    }
}
