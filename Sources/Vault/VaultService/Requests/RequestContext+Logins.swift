internal import Courier
internal import DeviceLogin
internal import SecretVault
internal import WatchwordCryptography
internal import WatchwordSystem

// Signing in with enrolled secrets and device keys, which never leave the process with the vault.
extension RequestContext {
    /// Carries out a task in the encoding of `DeviceLogin`, after the check that the entry requires.
    func response(toLogin encoded: SecretBytes) throws(EntryRefusal) -> AgentResponse {
        let task: LoginTask
        do throws(FieldReader.Unreadable) {
            task = try encoded.withBytes { bytes throws(FieldReader.Unreadable) in
                try LoginTask(parsing: bytes)
            }
        } catch {
            return .misunderstood
        }
        let answer = try answer(to: task)
        if let id = task.signing, case .ticket = answer { noteUse(of: id) }
        var mayHaveSaved = task.mayChangeVault
        if case .pinNeeded = answer { mayHaveSaved = false }
        do throws(SystemCallFailure) {
            return .login(
                try SecretBytes(encoding: answer), mayHaveSaved ? vault.saveReports : [])
        } catch {
            throw .vault(.system(error))
        }
    }

    private func answer(to task: LoginTask) throws(EntryRefusal) -> LoginAnswer {
        switch task {
        case .signIn(let id): return try signIn(id)
        case .status(let id): return try state(of: id)
        case .wipe(let id): return try wipe(id)
        case .key(let task): return try answer(to: task)
        case .enrol(let order):
            let confirmations = Confirmations(confirmed)
            forgetConfirmed()
            return try enrol(order, confirmations)
        }
    }

    private func signIn(_ id: RecordID) throws(EntryRefusal) -> LoginAnswer {
        let turn = try loginTurn()
        // Acquiring the lock has read the vault again.
        let content: EntryContent
        switch try enrolledContent(id, reusing: true) {
        case .success(let found): content = found.content
        case .failure(let error): return .failed(error)
        }
        let ticket: LoginTicket
        do throws(DeviceLoginError) {
            var sender = try sender()
            var login = try EnrolledLogin(content, of: id, in: vault)
            ticket = try login.signIn(turn: turn, over: &sender, now: now)
        } catch {
            // Locking the vault interrupts the sign-in; the next one resumes it.
            guard isHeld else { throw .notHeld }
            return .failed(error)
        }
        // The new secret is saved in any case.
        guard isHeld else { throw .notHeld }
        return .ticket(ticket)
    }

    private func state(of id: RecordID) throws(EntryRefusal) -> LoginAnswer {
        switch try enrolledContent(id, reusing: false) {
        case .failure(let error): return .failed(error)
        case .success(let found):
            do throws(DeviceLoginError) {
                return .state(try LoginState(of: EnrolledSecret(found.content), in: vault))
            } catch {
                return .failed(error)
            }
        }
    }

    private func enrol(
        _ order: EnrolmentOrder, _ confirmations: Confirmations
    ) throws(EntryRefusal) -> LoginAnswer {
        let turn = try loginTurn()
        let earlier = vault.entries.filter(order.replaces)
        guard earlier.allSatisfy({ $0.kind == .enrolled }) else { return .nameTaken }
        let confirmed = Set(earlier.filter(confirmations.cover).map(\.id))
        do throws(DeviceLoginError) {
            var sender = try sender()
            let secret = try order.enrolment.redeem(
                order.ticket, in: vault, turn: turn, over: &sender, now: now,
                isEarlier: order.replaces, confirmed: confirmed)
            countUse()
            return .enrolled(credential: secret.credential, server: secret.server)
        } catch {
            guard isHeld else { throw .notHeld }
            return .failed(error)
        }
    }

    private func wipe(_ id: RecordID) throws(EntryRefusal) -> LoginAnswer {
        // Wait for a login in progress.
        let turn = try loginTurn()
        let isWiped = try EntryRefusal.from { () throws(VaultError) in
            guard try vault.entry(id).kind == .enrolled else { throw .otherKind }
            return try vault.update { changes throws(VaultError) -> Bool in
                // The save may have waited for another writer.
                guard isHeld else { return false }
                try changes.erase(id)
                return true
            }
        }
        turn.end()
        guard isWiped else { throw .notHeld }
        return .wiped
    }

    /// Opens an enrolled secret or a device key after the check that it requires.
    func enrolledContent(
        _ id: RecordID, reusing: Bool
    ) throws(EntryRefusal) -> Result<CheckedContent, DeviceLoginError> {
        let entry = try entry(id)
        do throws(DeviceLoginError) { try entry.requireEnrolledSecret() } catch {
            return .failure(error)
        }
        let found = try opened(entry, reusing: reusing)
        countUse()
        return .success(found)
    }
}
