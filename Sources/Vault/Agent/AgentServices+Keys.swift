internal import Courier
internal import DeviceLogin
internal import Devices
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

// Signing with device keys. Neither a private key nor what a TPM needs to use one reaches the client.
extension AgentServices {
    /// Carries out a task, after the check that the entry requires.
    ///
    /// - Parameter confirmed: the entries that an enrolment may replace; each check counts once.
    func answer(
        to task: KeyTask, in use: HeldVaults.Use, _ place: VaultPlace, _ presence: AgentPresence,
        _ person: RemotePerson, _ confirmed: inout [ConfirmedEntry]
    ) throws(EntryRefusal) -> LoginAnswer {
        switch task {
        case .server(let id): return try server(of: id, in: use)
        case .status(let id):
            switch try enrolledContent(id, in: use, place, presence, person, reusing: false) {
            case .failure(let error): return .failed(error)
            case .success(let found):
                do throws(DeviceLoginError) {
                    return .key(KeyState(of: try EnrolledKey(found.content)))
                } catch {
                    return .failed(error)
                }
            }
        case .signIn(let id, let order):
            return try sign(id, order, in: use, place, presence, person, reusing: true) {
                login, turn, courier, absent throws(DeviceLoginError) in
                try login.signIn(turn: turn, over: &courier, asking: &absent, now: unixTime())
            }
        case .confirm(let id, let text, let order):
            // Each text needs a check of its own.
            return try sign(id, order, in: use, place, presence, person, reusing: false) {
                login, turn, courier, absent throws(DeviceLoginError) in
                try login.confirm(
                    text, turn: turn, over: &courier, asking: &absent, now: unixTime())
            }
        case .enrol(let order):
            return try enrol(order, in: use, place, presence, person, &confirmed)
        }
    }

    /// The server's address, which is not a secret.
    private func server(
        of id: RecordID, in use: HeldVaults.Use
    ) throws(EntryRefusal) -> LoginAnswer {
        let entry = try EntryRefusal.from { () throws(VaultError) in try use.vault.entry(id) }
        do throws(DeviceLoginError) { try entry.requireEnrolledSecret() } catch {
            return .failed(error)
        }
        let text = try EntryRefusal.from { () throws(VaultError) in
            try use.vault.server(of: id)
        }
        do throws(ServerAddressError) {
            return .server(try ServerAddress(parsing: text ?? ""))
        } catch {
            return .failed(.unreadable)
        }
    }

    private func sign(
        _ id: RecordID, _ order: SigningOrder, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, reusing: Bool,
        _ body: (KeyLogin, borrowing LoginLock, inout RelayedCourier, inout AbsentPerson)
            throws(DeviceLoginError) -> LoginTicket
    ) throws(EntryRefusal) -> LoginAnswer {
        let turn = try loginTurn(in: use, place)
        // The person was told this server; another process may have replaced the key since then.
        switch try server(of: id, in: use) {
        case .server(order.server): break
        case .server: throw .vault(.changedMeanwhile)
        case let failure: return failure
        }
        let tpm: TPMAccess
        do throws(DeviceLoginError) {
            tpm = try access(to: order.tpm, for: place, use.unlocking, asking: person)
        } catch {
            return .failed(error)
        }
        let opened: OpenedEntry
        switch try enrolledContent(id, in: use, place, presence, person, reusing: reusing) {
        case .success(let found): opened = found
        case .failure(let error): return .failed(error)
        }
        let ticket: LoginTicket
        do throws(DeviceLoginError) {
            var courier = RelayedCourier(relay(in: place, use.unlocking))
            var absent = AbsentPerson()
            let login = try KeyLogin(
                opened.content, of: id, in: use.vault, presence: opened.presence, tpm: tpm)
            ticket = try body(login, turn, &courier, &absent)
        } catch {
            // Locking the vault ends the sign-in.
            guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
            return .failed(error)
        }
        guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
        return .ticket(ticket)
    }

    /// The TPM at this address, which the user agent uses as the client itself could.
    ///
    /// The system agent has privileges that its clients lack, and uses its own computer's TPM only.
    ///
    /// - Parameter person: enters the PIN of a key that has one.
    func access(
        to address: TPMAddress, for place: VaultPlace, _ unlocking: UInt64,
        asking person: RemotePerson? = nil
    ) throws(DeviceLoginError) -> TPMAccess {
        var limit: (PINLimit, user: UInt32)?
        if case .account(let account) = reach {
            guard address == .standard else { throw .otherTPM }
            limit = (pins, account.user)
        }
        return TPMAccess(
            address,
            through: RelayedToken(
                relay(in: place, unlocking), asking: person, limit, timeout: deviceTimeout()))
    }
}
