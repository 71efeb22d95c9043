internal import Courier
internal import DeviceLogin
internal import SecretVault
internal import WatchwordCryptography
internal import WatchwordSystem

// Signing in with enrolled secrets and device keys, which never leave the process with the vault.
extension RequestContext {
    /// Carries out a task in the encoding of `DeviceLogin`, after the check that the entry requires.
    func response(toLogin encoded: SecretBytes) throws -> AgentResponse {
        let task = try encoded.withBytes { bytes throws(FieldReader.Unreadable) in
            try LoginTask(parsing: bytes)
        }
        let answer: LoginAnswer
        do {
            answer = try self.answer(to: task)
        } catch let error as DeviceLoginError {
            // Locking the vault interrupts a sign-in; the next one resumes it.
            try expectHeld()
            answer = .failed(error)
        }
        if let id = task.signing, case .ticket = answer { noteUse(of: id) }
        var mayHaveSaved = task.mayChangeVault
        if case .pinNeeded = answer { mayHaveSaved = false }
        return .login(try SecretBytes(encoding: answer), mayHaveSaved ? vault.saveReports : [])
    }

    private func answer(to task: LoginTask) throws -> LoginAnswer {
        switch task {
        case .signIn(let id): return try signIn(id)
        case .status(let id):
            let content = try enrolledContent(id, reusing: false).content
            return .state(try LoginState(of: EnrolledSecret(content), in: vault))
        case .wipe(let id): return try wipe(id)
        case .key(let task): return try answer(to: task)
        case .enrol(let order):
            let confirmations = Confirmations(confirmed)
            forgetConfirmed()
            return try enrol(order, confirmations)
        }
    }

    private func signIn(_ id: RecordID) throws -> LoginAnswer {
        let turn = try loginTurn()
        // Acquiring the lock has read the vault again.
        let content = try enrolledContent(id, reusing: true).content
        var sender = try sender()
        var login = try EnrolledLogin(content, of: id, in: vault)
        let ticket = try login.signIn(turn: turn, over: &sender, now: now)
        // The new secret is saved in any case.
        try expectHeld()
        return .ticket(ticket)
    }

    private func enrol(
        _ order: EnrolmentOrder, _ confirmations: Confirmations
    ) throws -> LoginAnswer {
        let turn = try loginTurn()
        let earlier = vault.entries.filter(order.replaces)
        guard earlier.allSatisfy({ $0.kind == .enrolled }) else { return .nameTaken }
        let confirmed = Set(earlier.filter(confirmations.cover).map(\.id))
        var sender = try sender()
        let secret = try order.enrolment.redeem(
            order.ticket, in: vault, turn: turn, over: &sender, now: now,
            isEarlier: order.replaces, confirmed: confirmed)
        countUse()
        return .enrolled(credential: secret.credential, server: secret.server)
    }

    private func wipe(_ id: RecordID) throws -> LoginAnswer {
        // Wait for a login in progress.
        let turn = try loginTurn()
        guard try vault.entry(id).kind == .enrolled else { throw VaultError.otherKind }
        let isWiped = try vault.update { changes throws(VaultError) -> Bool in
            // The save may have waited for another writer.
            guard isHeld else { return false }
            try changes.erase(id)
            return true
        }
        turn.end()
        guard isWiped else { throw RequestRefusal(.notHeld) }
        return .wiped
    }

    /// Opens an enrolled secret or a device key after the check that it requires.
    func enrolledContent(_ id: RecordID, reusing: Bool) throws -> CheckedContent {
        let entry = try vault.entry(id)
        try entry.requireEnrolledSecret()
        let found = try opened(entry, reusing: reusing)
        countUse()
        return found
    }
}
