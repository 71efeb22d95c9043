import CommandRunner
import Cryptography
import DeviceLogin
import POSIX
import SecretVault
import VaultAgent

// Signing in through the agent, which keeps the enrolled secret to itself.
extension Session {
    /// The agent's answer to a task that uses `entry`, after the confirmation that it requires.
    func answer(
        to task: LoginTask, of entry: EntrySummary, by vault: AgentVault, for use: EntryUse
    ) throws(CommandFailure) -> LoginAnswer {
        let encoded = try encoded(task)
        let response = try agentResponse(for: entry, in: vault, for: use) { presence in
            .login(vault.place, encoded, presence)
        }
        return try answer(in: response, about: entry.name.visible, by: vault)
    }

    /// The agent's answer to a task about `name`, for which confirmations were made before.
    func answer(
        to task: LoginTask, about name: String, by vault: AgentVault
    ) throws(CommandFailure) -> LoginAnswer {
        let request = AgentRequest.login(vault.place, try encoded(task), .none)
        return try answer(
            in: heldResponse(exchange(request, with: vault.client), by: vault), about: name,
            by: vault)
    }

    private func answer(
        in response: AgentResponse, about name: String, by vault: AgentVault
    ) throws(CommandFailure) -> LoginAnswer {
        guard case .login(let encoded, let reports) = response else { throw .agent(.malformed) }
        printReports(reports, of: vault.entries)
        let answer: LoginAnswer
        do throws(FieldReader.Unreadable) {
            answer = try encoded.withBytes { bytes throws(FieldReader.Unreadable) in
                try LoginAnswer(parsing: bytes)
            }
        } catch {
            throw .agent(.malformed)
        }
        switch answer {
        case .failed(let error): throw .login(name, error)
        case .nameTaken: throw .nameTaken(name)
        default: return answer
        }
    }

    private func encoded(_ task: LoginTask) throws(CommandFailure) -> SecretBytes {
        do throws(SystemCallFailure) { return try SecretBytes(encoding: task) } catch {
            throw .agent(.system(error))
        }
    }

    /// Refuses an entry without an enrolled secret; if it was wiped, the error states the reason.
    func requireEnrolledSecret(of entry: EntrySummary) throws(CommandFailure) {
        do throws(DeviceLoginError) { try entry.requireEnrolledSecret() } catch {
            throw .login(entry.name.visible, error)
        }
    }

    /// Opens `entry`, an enrolled secret.
    func enrolledContent(of entry: EntrySummary, in vault: UnlockedVault, for use: EntryUse)
        throws(CommandFailure) -> EntryContent
    {
        try requireEnrolledSecret(of: entry)
        return try content(of: entry, in: vault, for: use)
    }
}
