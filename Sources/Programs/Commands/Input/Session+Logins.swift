import CommandLineInterface
import Courier
import DeviceLogin
import Devices
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

// Signing in: the enrolled secret or the device key never reaches the command.
extension Session {
    /// The answer to a task that uses `entry`, after the confirmation that it requires.
    func answer(
        to task: LoginTask, of entry: EntrySummary, by vault: any OpenVault, for use: EntryUse
    ) throws -> LoginAnswer {
        let encoded = try encoded(task)
        let response = try response(for: entry, in: vault, for: use) { presence in
            .login(vault.place, encoded, presence)
        }
        return try answer(to: task, in: response, about: entry.name.visible, by: vault)
    }

    /// The answer to a task about `name`, for which confirmations were made before.
    func answer(
        to task: LoginTask, about name: String, by vault: any OpenVault
    ) throws -> LoginAnswer {
        let request = AgentRequest.login(vault.place, try encoded(task), .none)
        return try answer(
            to: task, in: expected(vault.send(request), by: vault), about: name,
            by: vault)
    }

    /// The answer to the enrolment of a device key, after the check that the new key requires, unless
    /// a confirmation that was made before counts.
    func answer(
        toEnrol order: KeyOrder, by vault: any OpenVault, requiring presence: AccessControl.Presence
    ) throws -> LoginAnswer {
        let name = order.enrolment.name
        let task = LoginTask.key(.enrol(order))
        let encoded = try encoded(task)
        func request(_ presence: AgentPresence) -> AgentRequest {
            .login(vault.place, encoded, presence)
        }
        var response = try vault.send(request(.none))
        // A vault that this process has opened would not use a confirmation that is given now.
        if vault.isHeldByAgent, case .failed(.presenceNeeded) = response {
            let use = EntryUse.enrolAt(order.enrolment.server.address.text)
            response = try responseAfterCheck(
                presence, of: name, by: vault, for: use, request)
        }
        return try answer(
            to: task, in: expected(response, by: vault), about: name.visible, by: vault)
    }

    /// Sends a request about an entry that does not exist yet, after the check that it will require.
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
        // What opened the vault for this command also confirms its first use.
        if let opener = vault.opener, opener.provesPresence { return try attempt(.opener(opener)) }
        return try attempting(vault.path) {
            try lockOut(of: vault)
        } unlock: {
            try attempt(
                .opener(
                    openerAgain(for: purpose, of: name, among: vault.slots, openedBy: nil)))
        }
    }

    private func answer(
        to task: LoginTask, in response: AgentResponse, about name: String,
        by vault: any OpenVault
    ) throws -> LoginAnswer {
        guard case .login(let encoded, let reports) = response else {
            throw AgentFailure.malformed
        }
        printReports(reports, of: vault.entries)
        let answer: LoginAnswer
        do throws(FieldReader.Unreadable) {
            answer = try encoded.withBytes { bytes throws(FieldReader.Unreadable) in
                try LoginAnswer(parsing: bytes)
            }
        } catch {
            throw AgentFailure.malformed
        }
        switch answer {
        case .failed(let error):
            if case .key = task { throw CommandFailure.deviceKey(name, error) }
            throw CommandFailure.at(name, error)
        case .nameTaken: throw CommandFailure.nameTaken(name)
        default: return answer
        }
    }

    private func encoded(_ task: LoginTask) throws -> SecretBytes {
        do throws(SystemCallFailure) { return try SecretBytes(encoding: task) } catch {
            throw AgentFailure.system(error)
        }
    }

    /// Refuses an entry without an enrolled secret; if it was wiped, the error states the reason.
    func requireEnrolledSecret(of entry: EntrySummary) throws {
        try CommandFailure.naming(entry.name.visible) { try entry.requireEnrolledSecret() }
    }
}
