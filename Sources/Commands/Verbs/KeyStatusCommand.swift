import Arguments
import CommandRunner
import Courier
import DeviceLogin
import JSONText
import SecretVault
import VaultAgent

/// `key status`: what the vault says about a device key; the server is not contacted.
enum KeyStatusCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.unlock()
        let entry = try vault.entries.one(named: session.arguments.operands[0])
        var facts = LoginStatusCommand.facts(of: entry)
        if let wiped = LoginStatusCommand.facts(ofWiped: entry) {
            facts += wiped
        } else {
            try session.requireDeviceKey(of: entry)
            let content = try session.content(of: entry, in: vault, for: .loginStatus)
            do throws(DeviceLoginError) {
                facts += KeyStatusCommand.facts(of: try EnrolledKey(content))
            } catch {
                throw .deviceKey(entry.name.visible, error)
            }
        }
        try LoginStatusCommand.print(facts, session)
        return .done
    }

    private static func facts(of key: EnrolledKey) -> [(String, JSONValue)] {
        let facts: [(String, JSONValue)] = [
            ("changed_at", .text(Timestamp(unixTime: key.changed).text)),
            ("custody", .text(key.custody)),
            ("pin", .text(key.holding.requiresPIN ? "required" : "none")),
            ("server", .text(key.server.text)),
        ]
        guard let credential = key.credential else {
            return facts + [("state", .text("unregistered"))]
        }
        return facts + [("credential", .text(credential.text)), ("state", .text("ready"))]
    }
}
