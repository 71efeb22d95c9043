internal import Courier
internal import DeviceLogin
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

// Signing in with enrolled secrets and device keys, which never reach the client.
extension AgentServices {
    /// Carries out a task, after the check that the entry requires.
    ///
    /// - Parameter confirmed: the entries that an enrolment may replace; each check counts once.
    func answer(
        to task: LoginTask, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, _ confirmed: inout [ConfirmedEntry]
    ) throws(EntryRefusal) -> LoginAnswer {
        switch task {
        case .signIn(let id): return try signIn(id, in: use, place, presence, person)
        case .status(let id): return try state(of: id, in: use, place, presence, person)
        case .wipe(let id): return try wipe(id, in: use, place)
        case .key(let task):
            return try answer(to: task, in: use, place, presence, person, &confirmed)
        case .enrol(let order):
            let valid = confirmed.filter { $0.isValid(in: use, place) }
            confirmed = []
            return try enrol(order, in: use, place, Confirmations(valid))
        }
    }

    /// The response with an answer, and with what to report about the saves that led to it.
    func response(
        with answer: LoginAnswer, from vault: UnlockedVault
    ) throws(EntryRefusal) -> AgentResponse {
        do throws(SystemCallFailure) {
            return .login(try SecretBytes(encoding: answer), vault.saveReports)
        } catch {
            throw .vault(.system(error))
        }
    }

    private func signIn(
        _ id: RecordID, in use: HeldVaults.Use, _ place: VaultPlace, _ presence: AgentPresence,
        _ person: RemotePerson
    ) throws(EntryRefusal) -> LoginAnswer {
        let turn = try loginTurn(in: use, place)
        // Acquiring the lock has read the vault again.
        let content: EntryContent
        switch try enrolledContent(id, in: use, place, presence, person, reusing: true) {
        case .success(let found): content = found.content
        case .failure(let error): return .failed(error)
        }
        let ticket: LoginTicket
        do throws(DeviceLoginError) {
            var courier = RelayedCourier(relay(in: place, use.unlocking))
            var login = try EnrolledLogin(content, of: id, in: use.vault)
            ticket = try login.signIn(
                turn: turn, over: &courier, now: SystemClock.unixTime())
        } catch {
            // Locking the vault interrupts the sign-in; the next one resumes it.
            guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
            return .failed(error)
        }
        // The new secret is saved in any case.
        guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
        return .ticket(ticket)
    }

    private func state(
        of id: RecordID, in use: HeldVaults.Use, _ place: VaultPlace, _ presence: AgentPresence,
        _ person: RemotePerson
    ) throws(EntryRefusal) -> LoginAnswer {
        switch try enrolledContent(id, in: use, place, presence, person, reusing: false) {
        case .failure(let error): return .failed(error)
        case .success(let found):
            do throws(DeviceLoginError) {
                return .state(
                    try LoginState(of: EnrolledSecret(found.content), in: use.vault))
            } catch {
                return .failed(error)
            }
        }
    }

    private func enrol(
        _ order: EnrolmentOrder, in use: HeldVaults.Use, _ place: VaultPlace,
        _ confirmations: Confirmations
    ) throws(EntryRefusal) -> LoginAnswer {
        let turn = try loginTurn(in: use, place)
        let earlier = use.vault.entries.filter(order.replaces)
        guard earlier.allSatisfy({ $0.kind == .enrolled }) else { return .nameTaken }
        let confirmed = Set(earlier.filter(confirmations.cover).map(\.id))
        do throws(DeviceLoginError) {
            var courier = RelayedCourier(relay(in: place, use.unlocking))
            let secret = try order.enrolment.redeem(
                order.ticket, in: use.vault, turn: turn, over: &courier,
                now: SystemClock.unixTime(), isEarlier: order.replaces, confirmed: confirmed)
            vaults.countUse(of: place, use.unlocking)
            return .enrolled(credential: secret.credential, server: secret.server)
        } catch {
            guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
            return .failed(error)
        }
    }

    private func wipe(
        _ id: RecordID, in use: HeldVaults.Use, _ place: VaultPlace
    ) throws(EntryRefusal) -> LoginAnswer {
        // Wait for a login in progress.
        let turn = try loginTurn(in: use, place)
        let isWiped = try EntryRefusal.from { () throws(VaultError) in
            guard try use.vault.entry(id).kind == .enrolled else { throw .otherKind }
            return try use.vault.update { changes throws(VaultError) -> Bool in
                // The save may have waited for another writer.
                guard vaults.isHeld(place, use.unlocking) else { return false }
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
        _ id: RecordID, in use: HeldVaults.Use, _ place: VaultPlace, _ presence: AgentPresence,
        _ person: RemotePerson, reusing: Bool
    ) throws(EntryRefusal) -> Result<OpenedEntry, DeviceLoginError> {
        let entry = try EntryRefusal.from { () throws(VaultError) in try use.vault.entry(id) }
        do throws(DeviceLoginError) { try entry.requireEnrolledSecret() } catch {
            return .failure(error)
        }
        let found = try opened(entry, in: use, place, presence, person, reusing: reusing)
        vaults.countUse(of: place, use.unlocking)
        return .success(found)
    }

    /// Waits until no other process or client is signing in.
    func loginTurn(
        in use: HeldVaults.Use, _ place: VaultPlace
    ) throws(EntryRefusal) -> LoginLock {
        let deadline = Moment.now + AgentServices.longestTurn
        while true {
            let turn: LoginLock?
            do throws(VaultError) { turn = try use.vault.takeLoginLock(timeout: .zero) } catch {
                guard case .busy = error, deadline.timeRemaining > .zero else {
                    throw .vault(error)
                }
                try pause(for: AgentServices.turnInterval)
                turn = nil
            }
            // Meanwhile, the vault may have been locked.
            guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
            if let turn { return turn }
        }
    }

    /// How long to wait while another process or client signs in.
    private static let longestTurn = Duration.seconds(30)
    /// How often to look meanwhile whether the turn has come, or the vault has been locked.
    private static let turnInterval = Duration.milliseconds(50)

    /// Waits, and lets other requests have the memory of this one meanwhile.
    private func pause(for time: Duration) throws(EntryRefusal) {
        func wait() throws(SystemCallFailure) { _ = try Polling.wait(for: [], timeout: time) }
        do throws(SystemCallFailure) {
            if let turn { try turn.paused(wait) } else { try wait() }
        } catch {
            throw .vault(.system(error))
        }
    }
}
