internal import DeviceLogin
internal import Devices
internal import OneTimePassword
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// A request of a client about a vault that the agent holds.
struct HeldRequest: RequestContext {
    let service: AgentServices
    let use: HeldVaults.Use
    let place: VaultPlace
    let presence: AgentPresence
    /// The person at the client, who answers questions.
    let person: RemotePerson
    let proofs: ClientProofs

    var vault: UnlockedVault { use.vault }
    var vaults: HeldVaults { service.vaults }
    var now: Int64 { service.unixTime() }

    var isHeld: Bool { vaults.isHeld(place, use.unlocking) }

    func countUse() { vaults.countUse(of: place, use.unlocking) }

    func noteUse(of id: RecordID) { proofs.use = UsedEntry(id, in: use, place, at: now) }

    /// Unlocking does not count as a check: it may have been hours ago.
    var countsUnlocking: Bool { false }

    // Clients request this only before they prompt for a passphrase.
    var asksForGuess: Bool { true }

    func deriving<Result>(upTo ceiling: Int?, _ body: () throws -> Result) throws -> Result {
        try service.deriving(
            upTo: ceiling ?? Vault.defaultCeiling, while: { isHeld }, with: { vault.slots }, body)
    }
}

// The proofs that the client has made on its connection.
extension HeldRequest {
    func reusableCheck(for entry: EntrySummary) -> DeviceKeyTranscript.Presence? {
        vaults.reusableCheck(for: entry, in: place, use.unlocking)
    }

    func recordCheck(of entry: EntrySummary, _ presence: DeviceKeyTranscript.Presence) {
        vaults.recordCheck(of: entry, presence, in: place, use.unlocking)
    }

    var isProved: Bool { proofs.repeated.contains { $0.isValid(in: use, place) } }

    func recordProof() {
        proofs.repeated.removeAll { $0.place == place }
        proofs.repeated.append(ClientProof(for: use, of: place))
    }

    var confirmed: [ConfirmedEntry] {
        proofs.confirmed.filter { $0.proof.isValid(in: use, place) }.map(\.check)
    }

    func confirm(_ id: RecordID, with check: ConfirmedEntry?) {
        proofs.confirmed.removeAll { $0.proof.place == place && $0.check.id == id }
        guard let check else { return }
        if proofs.confirmed.count >= ClientProofs.mostConfirmed { proofs.confirmed.removeFirst() }
        proofs.confirmed.append((check, ClientProof(for: use, of: place)))
    }

    func forgetConfirmed() { proofs.confirmed = [] }

    func shownCredential(of entry: EntrySummary) -> Credential? {
        let found = proofs.shown.first { shown in
            shown.id == entry.id && shown.place == place && shown.unlocking == use.unlocking
                && shown.access == entry.accessControl && shown.edited == entry.edited
                && entry.tombstone == nil
        }
        guard let found else { return nil }
        return vaults.shownCredential(found.credential, of: place)
    }

    func keepShown(_ credential: Credential, of entry: EntrySummary) throws {
        proofs.forgetShown(in: vaults) { $0.id == entry.id && $0.place == place }
        guard let number = vaults.keep(credential, of: place, use.unlocking) else {
            throw RequestRefusal(.notHeld)
        }
        if proofs.shown.count >= HeldVaults.mostShown { proofs.shown.removeFirst() }
        proofs.shown.append(
            ShownEntry(
                place: place, id: entry.id, unlocking: use.unlocking, access: entry.accessControl,
                edited: entry.edited, credential: number))
    }
}

// The parts of a request that other programs perform; the supervisor starts them.
extension HeldRequest {
    var relay: RelayContext { service.relay(in: place, use.unlocking) }

    func openedByModules(
        _ entry: EntrySummary, words: String, takingCounter: Bool
    ) throws -> CheckedContent {
        guard case .account(let account) = service.reach else {
            var check = RelayedCheck<Advisory>(relay, person, user: nil, for: entry.name)
            return try opened(entry, after: &check, words: words, takingCounter: takingCounter)
        }
        var check = FingerCheck(for: entry, of: account, self)
        do {
            return try opened(entry, after: &check, words: words, takingCounter: takingCounter)
        } catch {
            if let difference = check.refusal, isHeld {
                throw RequestRefusal(.fingersDiffer(difference))
            }
            throw error
        }
    }

    func sender() -> RelayedCourier { RelayedCourier(relay) }

    func tpm(at address: TPMAddress, asks: Bool) throws -> TPMAccess {
        TPMAccess(
            address, through: try service.token(at: address, relay, asking: asks ? person : nil))
    }

    // The agent opens no file at a path from a client.
    var mergeFiles: MergeFiles { MergeFiles() }

    var deviceKeys: DeviceKeyStore { service.deviceKeys }

    func tokens(at address: TPMAddress) throws(VaultError) -> any TokenRequestHandler {
        try service.tokens(at: address, in: place, use.unlocking)
    }

    // The PIN is requested through the TPM's helper program, not here.
    func pinEntry() -> AbsentPerson { AbsentPerson() }

    /// Checks presence as the entry of a new key will require it, unless the check of an entry that
    /// the key replaces already satisfies this.
    func checkForNewKey(
        _ name: EntryName, under access: AccessControl, after earlier: [ConfirmedEntry]
    ) throws -> DeviceKeyTranscript.Presence {
        let required = access.presence
        if let found = earlier.map(\.presence).first(where: required.isSatisfied) { return found }
        guard required.isPerUse else { return .none }
        let checked: DeviceKeyTranscript.Presence
        switch presence {
        case .none: throw VaultError.presenceNeeded
        case .opener: checked = .cryptographic
        case .modules:
            if case .account = service.reach { checked = .enforced } else { checked = .advisory }
        }
        guard required.isSatisfied(by: checked) else { throw VaultError.differentCheckRequired }
        switch presence {
        case .none: break
        case .opener(let opener):
            guard opener.provesPresence else { throw VaultError.presenceNeeded }
            // Failures count like failed attempts to unlock.
            try deriving(upTo: nil) { try vault.confirm(opener) }
        case .modules(let words):
            let isPresent: Bool
            do {
                if case .account(let account) = service.reach {
                    isPresent = try RelayedCheck<Enforced>(
                        relay, person, user: account.user, for: name
                    ).isPresent(for: words)
                } else {
                    isPresent = try RelayedCheck<Advisory>(relay, person, user: nil, for: name)
                        .isPresent(for: words)
                }
            } catch {
                // Locking the vault ends the check.
                try expectHeld()
                throw error
            }
            guard isPresent else { throw RequestRefusal(.refused(.notCounted)) }
        }
        try expectHeld()
        return checked
    }
}

extension AccessControl.Presence {
    /// Whether a check of this kind satisfies the requirement of the entry at each use.
    fileprivate func isSatisfied(by checked: DeviceKeyTranscript.Presence) -> Bool {
        switch self {
        case .perUnlock: false
        case .perUse(.any): checked != .none
        case .perUse(.passphrase): checked == .cryptographic
        case .perUse(.pam): checked == .advisory || checked == .enforced
        }
    }
}

extension HeldRequest {
    /// How long to wait for another process or client that is signing in.
    private static let longestTurn = Duration.seconds(30)
    /// How often to check during this wait whether the turn has come or the vault has been locked.
    private static let turnInterval = Duration.milliseconds(50)

    func loginTurn() throws -> LoginLock {
        let deadline = Moment.now + HeldRequest.longestTurn
        while true {
            let turn: LoginLock?
            do { turn = try vault.takeLoginLock(timeout: .zero) } catch {
                guard error == .busy, deadline.timeRemaining > .zero else { throw error }
                try pause(for: HeldRequest.turnInterval)
                turn = nil
            }
            // The vault may have been locked in the meantime.
            try expectHeld()
            if let turn { return turn }
        }
    }

    /// Waits, and makes the memory of this request available to others meanwhile.
    private func pause(for time: Duration) throws {
        func wait() throws { _ = try Polling.wait(for: [], timeout: time) }
        if let turn = service.turn { try turn.paused(wait) } else { try wait() }
    }
}

extension AgentServices {
    /// The handler of requests to the TPM at this address, for a key of this device.
    ///
    /// No person is asked, so the request keeps its turn.
    func tokens(
        at address: TPMAddress, in place: VaultPlace, _ unlocking: UInt64
    ) throws(VaultError) -> any TokenRequestHandler {
        let relay = RelayContext(
            helpers: helpers, vaults: vaults, place: place, unlocking: unlocking, turn: nil)
        return try replacingErrors(
            of: token(at: address, relay), with: VaultError.deviceKey(.otherTPM))
    }

    /// The handler of requests to the TPM at this address; the user agent uses the TPM with the
    /// same rights as the client.
    ///
    /// The system agent has privileges that its clients lack, and uses its own computer's TPM only.
    ///
    /// - Parameter person: enters the PIN of a key that has one.
    func token(
        at address: TPMAddress, _ relay: RelayContext, asking person: RemotePerson? = nil
    ) throws -> RelayedToken {
        var limit: (PINLimit, user: UInt32)?
        if case .account(let account) = reach {
            guard address == .standard else { throw DeviceLoginError.otherTPM }
            limit = (pins, account.user)
        }
        return RelayedToken(relay, asking: person, limit, timeout: deviceTimeout())
    }
}
