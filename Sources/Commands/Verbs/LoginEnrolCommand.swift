import Arguments
import CommandRunner
import Courier
import Cryptography
import DeviceLogin
import JSONText
import POSIX
import SecretVault
import VaultAgent

/// `login enrol`: exchanges a ticket for a secret and stores it in the vault.
enum LoginEnrolCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = EntryName(typed: session.arguments.operands[0])
        guard !EntryName.isBlank(name.text) else { throw .usage(.emptyName) }
        // Check the arguments before any prompt.
        let enrolment = try enrolment(as: name, session)
        let source = SecretSource(try session.needed(.ticketFile))
        let ticket = try source.readFirstLine(limit: Session.secretLimit)
        guard Token.isToken(ticket) else { throw .login(source.name, .badTicket) }
        var helper = try session.httpHelper()
        let vault = try session.unlock()
        let turn = try session.loginTurn(in: vault)
        let earlier = vault.entries.filter { $0.name == name }
        guard earlier.allSatisfy({ $0.kind == .enrolled }) else { throw .nameTaken(name.visible) }
        let confirmed = try session.askToReplace(earlier, in: .own(vault))
        let state: EnrolledSecret
        do {
            state = try enrolment.redeem(
                ticket, in: vault, turn: turn, over: &helper, now: SystemClock.unixTime(),
                isEarlier: { $0.name == name }, confirmed: confirmed)
        } catch {
            throw .login(name.visible, error)
        }
        session.warnAboutGeneration(of: vault)
        if session.wantsJSON {
            try session.printer.line(
                .object([
                    ("credential", .text(state.credential.text)), ("entry", .text(name.text)),
                    ("result", .text("enrolled")), ("server", .text(state.server.text)),
                ]))
        } else {
            session.printer.note("Enrolled \(name.visible) at \(state.server.text).")
        }
        return .done
    }

    private static func enrolment(as name: EntryName, _ session: Session) throws(CommandFailure)
        -> Enrolment
    {
        let address = try session.needed(.server)
        let server: ServerAddress
        do {
            server = try ServerAddress(parsing: address)
        } catch {
            throw .usage(.badValue(Option.server.name, expected: Messages.expectation(of: error)))
        }
        var authorities: [UInt8] = []
        if let path = session.arguments[.caFile] {
            let bytes = try SecretSource(path).read(limit: Enrolment.largestAuthorities)
            authorities = bytes.withBytes { bytes in [UInt8](copying: bytes) }
        }
        let deviceName = session.arguments[.deviceName] ?? ""
        guard deviceName.utf8.count <= Enrolment.longestDeviceName else {
            let expected = "at most \(Enrolment.longestDeviceName) bytes long"
            throw .usage(.badValue(Option.deviceName.name, expected: expected))
        }
        let access = try AccessControlChange(session)
        return Enrolment(
            server: server, authorities: authorities, deviceName: deviceName,
            name: (name.issuer, name.account),
            accessControl: access.applied)
    }
}

extension Session {
    /// The value of a required option.
    func needed(_ option: Option) throws(CommandFailure) -> String {
        guard let value = arguments[option] else {
            throw .usage(.needsOneOf(["--\(option.name)"]))
        }
        return value
    }

    /// The helper process for HTTP.
    func httpHelper() throws(CommandFailure) -> HTTPHelper {
        do { return try HTTPHelper() } catch { throw .login("watchword-courier", .helper(error)) }
    }

    /// Waits until no other process is signing in.
    func loginTurn(in vault: UnlockedVault) throws(CommandFailure) -> LoginLock {
        let path = VisibleText.of(try vaultPath())
        do { return try vault.takeLoginLock() } catch { throw .vault(path, error) }
    }

    /// Warns if the generation could not be recorded beside the vault.
    func warnAboutGeneration(of vault: UnlockedVault) {
        for report in vault.reports {
            if case .generationNotRecorded = report {
                printer.warn(Messages.sentence(for: report, in: vault.entries))
            }
        }
    }
}
