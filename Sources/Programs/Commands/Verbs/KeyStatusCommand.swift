import CommandLineInterface
import Courier
import DeviceLogin
import SecretVault
import VaultService
import WatchwordCoding

/// `key status`: what the vault says about a device key; the server is not contacted.
enum KeyStatusCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.openVault()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        var facts = LoginStatusCommand.facts(of: entry)
        if let wiped = LoginStatusCommand.facts(ofWiped: entry) {
            facts += wiped
        } else {
            facts += KeyStatusCommand.facts(of: try state(of: entry, in: vault, session))
        }
        try LoginStatusCommand.print(facts, session)
        return .done
    }

    private static func state(
        of entry: EntrySummary, in vault: OpenVault, _ session: Session
    ) throws(CommandFailure) -> KeyState {
        try session.requireDeviceKey(of: entry)
        switch vault {
        case .held(let vault):
            let answer = try session.answer(
                to: .key(.status(entry.id)), of: entry, by: vault, for: .loginStatus)
            guard case .key(let state) = answer else { throw .agent(.malformed) }
            return state
        case .own(let vault):
            let content = try session.content(of: entry, in: vault, for: .loginStatus)
            do throws(DeviceLoginError) {
                return KeyState(of: try EnrolledKey(content))
            } catch {
                throw .deviceKey(entry.name.visible, error)
            }
        }
    }

    private static func facts(of key: KeyState) -> [(String, JSONValue)] {
        let facts: [(String, JSONValue)] = [
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
