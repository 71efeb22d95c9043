package import Courier
package import DeviceLogin
package import Devices
package import OneTimePassword
package import SecretVault
package import WatchwordCryptography
internal import WatchwordSystem

/// One request on an open vault, and what performing it needs.
///
/// The extensions of this protocol are the only code that performs such a request, in the process of
/// a command (``OwnVault``) and in the agent, where the vault may be locked at any moment, and where
/// the client is not trusted: it may be any program of its user.
package protocol RequestContext {
    /// Sends requests to servers.
    associatedtype Sender: RequestSender
    /// Enters the PIN of a key in a TPM.
    associatedtype PINEntry: TokenHelper.Person

    var vault: UnlockedVault { get }
    /// How presence is proved for this request.
    var presence: AgentPresence { get }
    /// The time in Unix seconds.
    var now: Int64 { get }

    /// Whether the vault has not been locked since the request began.
    ///
    /// What was found out is told only if this is still true.
    var isHeld: Bool { get }
    /// Records a use of a secret, which restarts the time after which the vault is locked.
    func countUse()
    /// Records that an entry was used, once the result has been delivered.
    func noteUse(of id: RecordID)

    /// Whether having unlocked the vault is a check of an entry, once for each entry.
    var countsUnlocking: Bool { get }
    /// Whether a wait of the vault, too, prevents the check for which the lock-out is asked.
    var asksForGuess: Bool { get }
    /// How presence was checked earlier, if that check may be reused for `entry`.
    func reusableCheck(for entry: EntrySummary) -> DeviceKeyTranscript.Presence?
    /// Records that a check for `entry` has just succeeded.
    func recordCheck(of entry: EntrySummary, _ presence: DeviceKeyTranscript.Presence)
    /// Runs `body`, which derives keys, when its turn has come.
    ///
    /// - Parameter ceiling: the maximum cost; `nil` for the default.
    func deriving<Result>(
        upTo ceiling: Int?, _ body: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result
    /// Opens an entry after a check by the system's modules, which show these words.
    func openedByModules(
        _ entry: EntrySummary, words: String, takingCounter: Bool
    ) throws(EntryRefusal) -> CheckedContent

    /// Whether what opens the vault was proved again, so that the client may see secrets.
    var isProved: Bool { get }
    /// Records such a proof.
    func recordProof()

    /// The entries for which presence was checked for the next edit.
    var confirmed: [ConfirmedEntry] { get }
    /// Adds one to them, in place of an earlier check for it; `nil` only removes the earlier one.
    func confirm(_ id: RecordID, with check: ConfirmedEntry?)
    /// Forgets them: each check counts for one edit only.
    func forgetConfirmed()

    /// The credential of an entry whose codes the client shows since a check.
    func shownCredential(of entry: EntrySummary) -> Credential?
    /// Keeps the credential of an entry whose codes the client will show.
    func keepShown(_ credential: Credential, of entry: EntrySummary) throws(EntryRefusal)

    /// Waits until no other process or client is signing in.
    func loginTurn() throws(EntryRefusal) -> LoginLock
    func sender() throws(DeviceLoginError) -> Sender
    /// The TPM at this address.
    ///
    /// - Parameter asks: whether the person is asked for the PIN of a key that has one.
    func tpm(at address: TPMAddress, asks: Bool) throws(DeviceLoginError) -> TPMAccess
    func pinEntry() -> PINEntry
    /// How presence is checked for a new key with this access control.
    ///
    /// - Parameter earlier: the checks of the entries that the key replaces.
    func checkForNewKey(
        _ name: EntryName, under access: AccessControl, after earlier: [ConfirmedEntry]
    ) throws(EntryRefusal) -> DeviceKeyTranscript.Presence
}

/// An entry that the next edit may change, after a presence check.
package struct ConfirmedEntry: Sendable {
    package let id: RecordID
    /// The check that the entry required at that time.
    package let required: AccessControl.Presence
    /// How presence was checked.
    package let presence: DeviceKeyTranscript.Presence

    package init(_ entry: EntrySummary, _ presence: DeviceKeyTranscript.Presence) {
        id = entry.id
        required = entry.accessControl.presence
        self.presence = presence
    }
}

extension Confirmations {
    init(_ entries: [ConfirmedEntry]) {
        self.init(of: entries.map { ($0.id, $0.required) })
    }
}

extension RequestContext {
    /// Performs a request about the entries or the content of the vault.
    package func response(to request: AgentRequest) -> AgentResponse {
        do throws(EntryRefusal) {
            switch request {
            case .code(_, let id, let time, _): return .code(try code(of: id, at: time))
            case .verify(_, let id, let comparison, _):
                return .match(try match(comparison, of: id))
            case .lockOut(_, let id):
                return .lockOut(
                    try EntryRefusal.from { () throws(VaultError) in
                        try vault.lockOut(of: id, isGuess: asksForGuess)
                    })
            case .check:
                return .check(
                    try EntryRefusal.from { () throws(VaultError) in try vault.check() })
            case .edit(_, let edit, _): return try self.edit(edit)
            case .confirm(_, let id, _): return try confirm(id)
            case .rehearse(_, let edit): return try rehearse(edit)
            case .prove(_, let opener, let ceiling): return try prove(opener, ceiling: ceiling)
            case .contents(_, let ids, _, let isUse):
                return .contents(try contents(of: ids, isUse: isUse))
            case .login(_, let task, _): return try response(toLogin: task)
            // These are about the vault as a whole, or about no vault.
            case .unlock, .open, .standing, .lock, .lockAll, .status, .stop, .list, .find, .move,
                .answer, .cancel:
                return .misunderstood
            }
        } catch {
            return error.response
        }
    }
}

/// Why an entry was not used.
package enum EntryRefusal: Error {
    case vault(VaultError)
    /// The check failed, at this cost.
    case refused(RefusalCost)
    /// The system's modules gave no verdict.
    case noVerdict(PAMCheckFailure)
    /// The entry has no such code.
    case noCode
    /// The vault has been locked meanwhile.
    case notHeld

    package var response: AgentResponse {
        switch self {
        case .vault(let error): .failed(error)
        case .refused(let cost): .refused(cost)
        case .noVerdict(let failure): .noVerdict(failure)
        case .noCode: .noCode
        case .notHeld: .notHeld
        }
    }
}

extension EntryRefusal {
    package static func from<Result: ~Copyable>(
        _ body: () throws(VaultError) -> Result
    ) throws(EntryRefusal) -> Result {
        do { return try body() } catch { throw .vault(error) }
    }
}
