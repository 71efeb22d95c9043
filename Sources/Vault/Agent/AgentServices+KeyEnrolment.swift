internal import Courier
internal import DeviceLogin
internal import Devices
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

// Making device keys and registering them.
extension AgentServices {
    /// Makes a key and registers it, or continues an interrupted enrolment.
    ///
    /// A new key that requires a check at each use also requires one for its registration, which it
    /// signs; a confirmation of the replacement counts.
    ///
    /// - Parameter confirmed: the entries that it may replace; each check counts once.
    func enrol(
        _ order: KeyOrder, in use: HeldVaults.Use, _ place: VaultPlace,
        _ presence: AgentPresence, _ person: RemotePerson, _ confirmed: inout [ConfirmedEntry]
    ) throws(EntryRefusal) -> LoginAnswer {
        let turn = try loginTurn(in: use, place)
        let isEarlier = order.enrolment.replaces
        let entries = use.vault.entries.filter(isEarlier)
        guard entries.allSatisfy({ $0.kind == .enrolled }) else { return .nameTaken }
        // A check for another entry counts for nothing here.
        let valid = confirmed.filter { confirmed in
            confirmed.isValid(in: use, place) && entries.contains { $0.id == confirmed.id }
        }
        let earlier = try EntryRefusal.from { () throws(VaultError) in
            try contents(of: entries, confirmedBy: valid, in: use.vault)
        }
        if let left = entries.first(where: { $0.requiresCheckPerUse && earlier[$0.id] == nil }) {
            return .failed(.vault(left.hasVanished ? .vanishedEntries : .presenceNeeded))
        }
        let keyPlace: KeyPlace
        let isMade: Bool
        do throws(DeviceLoginError) {
            if let tpm = order.tpm { _ = try access(to: tpm, for: place, use.unlocking) }
            let token = RelayedToken(relay(in: place, use.unlocking), timeout: deviceTimeout())
            keyPlace = order.keyPlace { TPMAccess($0, through: token) }
            isMade = try order.made(in: earlier) != nil
        } catch {
            return .failed(error)
        }
        if !isMade, order.needsPIN { return .pinNeeded }
        let checked: DeviceKeyTranscript.Presence
        if isMade {
            // It has signed its registration.
            checked = .none
        } else {
            let enrolment = KeyEnrolment(order.enrolment.enrolment, in: keyPlace) { _ in .none }
            let required = enrolment.access(replacing: earlier, in: use.vault, isEarlier).presence
            if let found = valid.map(\.presence).first(where: required.isSatisfied) {
                checked = found
            } else {
                checked = try check(
                    required, for: order.enrolment.name, in: use, place, presence, person)
            }
        }
        confirmed = []
        do throws(DeviceLoginError) {
            var courier = RelayedCourier(relay(in: place, use.unlocking))
            let enrolment = KeyEnrolment(order.enrolment.enrolment, in: keyPlace) { _ in checked }
            let outcome = try enrolment.register(
                with: order.enrolment.ticket, replacing: earlier, in: use.vault, turn: turn,
                over: &courier, now: unixTime(), isEarlier: isEarlier)
            vaults.countUse(of: place, use.unlocking)
            return switch outcome {
            case .registered(let key): .key(KeyState(of: key))
            case .adopted(let key): .adopted(KeyState(of: key))
            }
        } catch {
            guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
            return .failed(error)
        }
    }

    /// The content of earlier enrolments: one of them may be a key whose registration was
    /// interrupted.
    private func contents(
        of entries: [EntrySummary], confirmedBy confirmed: [ConfirmedEntry],
        in vault: UnlockedVault
    ) throws(VaultError) -> [RecordID: EntryContent] {
        let confirmations = Confirmations(confirmed)
        var contents: [RecordID: EntryContent] = [:]
        for entry in entries where entry.tombstone == nil && confirmations.cover(entry) {
            contents[entry.id] =
                entry.requiresCheckPerUse
                ? try vault.open(entry.id, proof: try vault.proofOfConfirmation(for: entry.id))
                : try vault.open(entry.id, proof: try vault.proofOfUnlocking(for: entry.id))
        }
        return contents
    }

    /// Checks presence as the entry of a new key will require it.
    private func check(
        _ required: AccessControl.Presence, for name: EntryName, in use: HeldVaults.Use,
        _ place: VaultPlace, _ presence: AgentPresence, _ person: RemotePerson
    ) throws(EntryRefusal) -> DeviceKeyTranscript.Presence {
        guard required.isPerUse else { return .none }
        let checked: DeviceKeyTranscript.Presence
        switch presence {
        case .none: throw .vault(.presenceNeeded)
        case .opener: checked = .cryptographic
        case .modules:
            if case .account = reach { checked = .enforced } else { checked = .advisory }
        }
        guard required.isSatisfied(by: checked) else { throw .vault(.differentCheckRequired) }
        switch presence {
        case .none: break
        case .opener(let opener):
            guard opener.provesPresence else { throw .vault(.presenceNeeded) }
            // Failures count as those of unlocking do.
            try EntryRefusal.from { () throws(VaultError) in
                try deriving(
                    while: { vaults.isHeld(place, use.unlocking) }, with: { use.vault.slots }
                ) { () throws(VaultError) in
                    try use.vault.confirm(opener)
                }
            }
        case .modules(let words):
            let isPresent: Bool
            do throws(PAMCheckFailure) {
                let relay = relay(in: place, use.unlocking)
                if case .account(let account) = reach {
                    isPresent = try RelayedCheck<Enforced>(
                        relay, person, user: account.user, for: name
                    ).isPresent(for: words)
                } else {
                    isPresent = try RelayedCheck<Advisory>(relay, person, user: nil, for: name)
                        .isPresent(for: words)
                }
            } catch {
                throw vaults.isHeld(place, use.unlocking) ? .noVerdict(error) : .notHeld
            }
            guard isPresent else { throw .refused(.notCounted) }
        }
        guard vaults.isHeld(place, use.unlocking) else { throw .notHeld }
        return checked
    }
}

extension AccessControl.Presence {
    /// Whether a check of this kind is what the entry requires at each use.
    fileprivate func isSatisfied(by checked: DeviceKeyTranscript.Presence) -> Bool {
        switch self {
        case .perUnlock: false
        case .perUse(.any): checked != .none
        case .perUse(.passphrase): checked == .cryptographic
        case .perUse(.pam): checked == .advisory || checked == .enforced
        }
    }
}
