package import Courier
package import DeviceLogin
package import Devices
package import OneTimePassword
package import SecretVault
package import WatchwordCryptography
internal import WatchwordSystem

/// A request on an open vault, with the dependencies needed to perform it.
///
/// The extensions of this protocol are the only code that performs such a request. They run in the
/// process of a command (``OwnVault``) and in the agent. In the agent, the vault may be locked at
/// any moment, and the client is not trusted: it may be any program of its user.
package protocol RequestContext {
    /// The type that sends requests to servers.
    associatedtype Sender: RequestSender
    /// Enters the PIN of a key in a TPM.
    associatedtype PINEntry: TokenHelper.Person

    var vault: UnlockedVault { get }
    /// How the client proves presence for this request.
    var presence: AgentPresence { get }
    /// The current time in Unix seconds.
    var now: Int64 { get }

    /// Whether the vault has not been locked since the request began.
    ///
    /// Results are returned only if this is still true.
    var isHeld: Bool { get }
    /// Records a use of a secret, which restarts the time after which the vault is locked.
    func countUse()
    /// Records that an entry was used, once the result has been delivered.
    func noteUse(of id: RecordID)

    /// Whether unlocking the vault counts as a check, once for each entry.
    var countsUnlocking: Bool { get }
    /// Whether a lock-out of the vault also prevents the check for which the lock-out is requested.
    var asksForGuess: Bool { get }
    /// How presence was checked earlier, if that check may be reused for `entry`.
    func reusableCheck(for entry: EntrySummary) -> DeviceKeyTranscript.Presence?
    /// Records that a check for `entry` has just succeeded.
    func recordCheck(of entry: EntrySummary, _ presence: DeviceKeyTranscript.Presence)
    /// Waits for its turn, and then runs `body`, which derives keys.
    ///
    /// - Parameter ceiling: the maximum cost; `nil` for the default.
    func deriving<Result>(upTo ceiling: Int?, _ body: () throws -> Result) throws -> Result
    /// Opens an entry after a check by the system's PAM modules, which show `words`.
    func openedByModules(
        _ entry: EntrySummary, words: String, takingCounter: Bool
    ) throws -> CheckedContent

    /// Whether the client has proved again that it can open the vault, so that it may see secrets.
    var isProved: Bool { get }
    /// Records that the client has proved again that it can open the vault.
    func recordProof()

    /// The entries for which presence was checked for the next edit.
    var confirmed: [ConfirmedEntry] { get }
    /// Adds a check to ``confirmed``, in place of an earlier one for the same entry; `nil` only
    /// removes the earlier check.
    func confirm(_ id: RecordID, with check: ConfirmedEntry?)
    /// Empties ``confirmed``: each check counts for one edit only.
    func forgetConfirmed()

    /// The credential of an entry whose codes the client has been showing since a check.
    func shownCredential(of entry: EntrySummary) -> Credential?
    /// Keeps the credential of an entry whose codes the client will show.
    func keepShown(_ credential: Credential, of entry: EntrySummary) throws

    /// The files that a merge uses in addition to its request.
    var mergeFiles: MergeFiles { get }

    /// The store with the keys of this device.
    var deviceKeys: DeviceKeyStore { get }
    /// The handler of requests to the TPM at this address, for a key of this device.
    func tokens(at address: TPMAddress) throws(VaultError) -> any TokenRequestHandler
    /// The currently enrolled fingers, if an entry can require them.
    ///
    /// - Parameter isCurrent: whether the entry is to require them; if not, the result is `nil`.
    func fingersToRequire(_ isCurrent: Bool) throws -> EnrolledFingers?
    /// Makes each use of an entry require these fingers; `nil` accepts any finger.
    ///
    /// - Parameter entries: all entries of the vault, if known; fingers recorded for other entries
    ///   are deleted.
    func setFingers(
        _ fingers: EnrolledFingers?, of id: RecordID, among entries: [EntrySummary]?
    ) throws(VaultError)
    /// A function that makes a new entry require the same fingers as the earlier entries that it
    /// replaces.
    func keepingFingers(
        of earlier: [EntrySummary]
    ) -> @Sendable (RecordID) throws(VaultError) -> Void

    /// Waits until no other process or client is signing in.
    func loginTurn() throws -> LoginLock
    func sender() throws -> Sender
    /// Access to the TPM at this address.
    ///
    /// - Parameter asks: whether the person is asked for the PIN of a key that has one.
    func tpm(at address: TPMAddress, asks: Bool) throws -> TPMAccess
    func pinEntry() -> PINEntry
    /// How presence is checked for a new key with this access control.
    ///
    /// - Parameter earlier: the checks of the entries that the key replaces.
    func checkForNewKey(
        _ name: EntryName, under access: AccessControl, after earlier: [ConfirmedEntry]
    ) throws -> DeviceKeyTranscript.Presence
}

/// An entry that the next edit may change, after a presence check.
package struct ConfirmedEntry: Sendable {
    package let id: RecordID
    /// The check that the entry required at that time.
    package let required: AccessControl.Presence
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
    /// Performs a request that concerns the entries or the content of the vault.
    package func response(to request: AgentRequest) -> AgentResponse {
        do {
            switch request {
            case .code(_, let id, let time, _): return .code(try code(of: id, at: time))
            case .verify(_, let id, let comparison, _):
                return .match(try match(comparison, of: id))
            case .lockOut(_, let id):
                return .lockOut(try vault.lockOut(of: id, isGuess: asksForGuess))
            case .check:
                try loadKeys()
                return .check(try vault.check())
            case .edit(_, let edit, _): return try self.edit(edit)
            case .confirm(_, let id, _): return try confirm(id)
            case .rehearse(_, let edit): return try rehearse(edit)
            case .prove(_, let opener, let ceiling): return try prove(opener, ceiling: ceiling)
            case .contents(_, let ids, _, let isUse):
                return .contents(try contents(of: ids, isUse: isUse))
            case .undo(_, let seen): return try undo(seen)
            case .merge(_, let request): return try merge(request)
            case .login(_, let encoded, _): return try response(toLogin: encoded)
            // These requests concern the vault as a whole, or no vault.
            case .unlock, .open, .standing, .lock, .lockAll, .status, .stop, .list, .find, .move,
                .answer, .cancel:
                return .misunderstood
            }
        } catch {
            return AgentResponse(failure: error)
        }
    }
}

/// Ends a request with a response other than its result.
///
/// The functions that perform a request throw this or the error of the module that failed;
/// ``AgentResponse/init(failure:)`` converts either to the response.
package struct RequestRefusal: Error {
    package let response: AgentResponse

    package init(_ response: AgentResponse) { self.response = response }
}

extension AgentResponse {
    /// The response to a request that failed.
    package init(failure: any Error) {
        switch failure {
        case let refusal as RequestRefusal: self = refusal.response
        case let error as VaultError: self = .failed(error)
        case DeviceLoginError.vault(let error): self = .failed(error)
        case let failure as SystemCallFailure: self = .failed(.system(failure))
        case let failure as OpenerCheck.Failure: self = .failed(failure.reason)
        case let failure as PAMCheckFailure: self = .noVerdict(failure)
        case is OneTimePasswordError: self = .noCode
        case is FieldReader.Unreadable: self = .misunderstood
        default:
            // A bug in one client's request must not end the agent for all clients.
            assertionFailure("there is no response for \(type(of: failure))")
            self = .misunderstood
        }
    }
}
