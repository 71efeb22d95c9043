internal import Courier
internal import DeviceLogin
internal import Devices
internal import OneTimePassword
package import SecretVault
package import WatchwordCryptography
package import WatchwordSystem

/// A vault that this process has opened, and in which it performs its own requests.
package final class OwnVault: OpenVault {
    package let vault: UnlockedVault
    package let path: String
    fileprivate let deviceKeys: DeviceKeyStore
    // Not used here: unlocking has already proved presence.
    package var opener: VaultOpener?
    /// The files that the next merge uses.
    package var mergeFiles = MergeFiles()
    /// How presence was checked for a new key with this access control, after the vault was
    /// unlocked by a person or a check of the entries that the key replaces.
    fileprivate let checkForNewKey: (AccessControl) -> DeviceKeyTranscript.Presence
    /// The entries for which presence was checked for the next edit.
    fileprivate var confirmed: [ConfirmedEntry] = []
    /// The credentials of the entries whose codes have been shown since a check.
    fileprivate var shown: [RecordID: Credential] = [:]

    package init(
        _ vault: UnlockedVault, at path: String, deviceKeys: DeviceKeyStore,
        checkForNewKey: @escaping (AccessControl) -> DeviceKeyTranscript.Presence = { _ in .none }
    ) {
        self.vault = vault
        self.path = path
        self.deviceKeys = deviceKeys
        self.checkForNewKey = checkForNewKey
    }

    // Requests apply to this vault, regardless of their place.
    package var place: VaultPlace { .ofSystem }
    package var entries: [EntrySummary] { vault.entries }
    package var slots: [SlotSummary] { vault.slots }
    package var lastUses: [RecordID: Int64] { vault.lastUses }
    package var generation: UInt64 { vault.generation }
    package var isHeldByAgent: Bool { false }
    package var isKeptBySystem: Bool { false }
    package var unlockingProvesPresence: Bool { vault.unlockingProvesPresence }
    package var openedSlot: Int? { vault.openedSlot }
    package var code: FoundCode? { nil }
    package var endOfQuestion: Polling.Interest? { nil }

    package func counter(of id: RecordID) -> UInt64? {
        // A damaged entry is listed without its counter; `check` reports the damage.
        ifPossible(try vault.counter(of: id)) ?? nil
    }

    package func isSameVault(_ file: [UInt8]) throws(VaultError) -> Bool {
        try vault.isSameVault(file)
    }

    package func send(
        _ request: AgentRequest, asking person: @escaping (AgentResponse) -> AgentRequest?
    ) throws(AgentFailure) -> AgentResponse {
        OwnRequest(own: self, presence: request.presence, person: person).response(to: request)
    }

    package func recordUse(of id: RecordID, at time: Int64) { vault.recordUse(of: id, at: time) }
}

/// A request that is performed in the process of the command.
private struct OwnRequest: RequestContext {
    let own: OwnVault
    let presence: AgentPresence
    let person: (AgentResponse) -> AgentRequest?

    var vault: UnlockedVault { own.vault }
    var now: Int64 { SystemClock.unixTime() }

    // The vault cannot be locked by others, and is closed when the command ends.
    var isHeld: Bool { true }
    func countUse() {}
    // The command records the use when it has printed the result.
    func noteUse(of id: RecordID) {}

    var countsUnlocking: Bool { true }
    var asksForGuess: Bool {
        vault.slots.contains { slot in
            guard case .passphrase = slot.method else { return false }
            return slot.number == vault.openedSlot
        }
    }
    // Only the agent lives longer than a command, and a command does not check an entry twice.
    func reusableCheck(for entry: EntrySummary) -> DeviceKeyTranscript.Presence? { nil }
    func recordCheck(of entry: EntrySummary, _ presence: DeviceKeyTranscript.Presence) {}

    func deriving<Result>(upTo ceiling: Int?, _ body: () throws -> Result) throws -> Result {
        try body()
    }

    func openedByModules(
        _ entry: EntrySummary, words: String, takingCounter: Bool
    ) throws -> CheckedContent {
        var check = PAMCheck()
        return try opened(entry, after: &check, words: words, takingCounter: takingCounter)
    }

    // This command has opened the vault.
    var isProved: Bool { true }
    func recordProof() {}

    var confirmed: [ConfirmedEntry] { own.confirmed }

    func confirm(_ id: RecordID, with check: ConfirmedEntry?) {
        own.confirmed.removeAll { $0.id == id }
        if let check { own.confirmed.append(check) }
    }

    func forgetConfirmed() { own.confirmed = [] }

    func shownCredential(of entry: EntrySummary) -> Credential? { own.shown[entry.id] }

    func keepShown(_ credential: Credential, of entry: EntrySummary) {
        own.shown[entry.id] = credential
    }

    var mergeFiles: MergeFiles { own.mergeFiles }

    var deviceKeys: DeviceKeyStore { own.deviceKeys }
    func tokens(at address: TPMAddress) -> any TokenRequestHandler { StartedTokenHelper() }
    // Only the system agent records fingers, so the command has already refused the option.
    func fingersToRequire(_ isCurrent: Bool) throws -> EnrolledFingers? {
        throw RequestRefusal(.misunderstood)
    }
    func setFingers(_: EnrolledFingers?, of id: RecordID, among entries: [EntrySummary]?) {}
    func keepingFingers(
        of earlier: [EntrySummary]
    ) -> @Sendable (RecordID) throws(VaultError) -> Void { { _ in } }

    func loginTurn() throws -> LoginLock { try vault.takeLoginLock() }

    func sender() throws -> HTTPHelper {
        do { return try HTTPHelper() } catch { throw DeviceLoginError.helper(error, at: nil) }
    }

    func tpm(at address: TPMAddress, asks: Bool) -> TPMAccess { TPMAccess(address) }

    func pinEntry() -> AskedPIN { AskedPIN(person: person) }

    func checkForNewKey(
        _ name: EntryName, under access: AccessControl, after earlier: [ConfirmedEntry]
    ) -> DeviceKeyTranscript.Presence {
        // No person was asked if a device without a PIN opened the vault and no check was made
        // before the replacement of an earlier enrolment.
        let wasChecked = vault.unlockingProvesPresence || !earlier.isEmpty
        return wasChecked ? own.checkForNewKey(access) : .none
    }
}

/// The person at the terminal, who enters the PIN of a key in a TPM.
private struct AskedPIN: TokenHelper.Person {
    let person: (AgentResponse) -> AgentRequest?

    func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? {
        let question = AgentResponse.asksPIN(isRepeated: isRepeated, left: left.map(UInt64.init))
        guard case .answer(let pin)? = person(question) else { return nil }
        return pin
    }

    // A TPM needs no touch.
    func touch(number: Int, of count: Int) {}
}
