package import SecretVault
package import WatchwordSystem

/// A vault that a command uses: either opened by this process (``OwnVault``), or held by the agent
/// (``AgentVault``).
///
/// A command sends the same requests to both. The command asks for the passphrase that proves
/// presence before it sends the request; only the system's PAM modules and a TPM ask during the
/// request.
package protocol OpenVault: AnyObject {
    /// The place to which requests refer.
    var place: VaultPlace { get }
    /// The path to show in messages.
    var path: String { get }
    /// The entries; from the agent, possibly only those that match the requested names.
    var entries: [EntrySummary] { get }
    /// The slots, each of which is one way to open the vault.
    var slots: [SlotSummary] { get }
    /// When each entry was last used on this machine, in Unix seconds, as far as that is known.
    var lastUses: [RecordID: Int64] { get }
    var generation: UInt64 { get }
    /// The counter for the next code of an entry; `nil` if the entry has none.
    func counter(of id: RecordID) -> UInt64?
    /// Whether `file` is a copy or another generation of this vault.
    func isSameVault(_ file: [UInt8]) throws(VaultError) -> Bool

    /// Whether the agent holds the vault, which may have been unlocked hours ago. If so, a command
    /// that shows secrets must prove again that it can open the vault, and earlier checks may be
    /// reused.
    var isHeldByAgent: Bool { get }
    /// Whether the system agent keeps the vault, so that its checks run as a different user.
    var isKeptBySystem: Bool { get }
    /// Whether unlocking counts as the first check of each entry.
    var unlockingProvesPresence: Bool { get }
    /// The number of the slot that opened the vault for this command; `nil` if unknown.
    var openedSlot: Int? { get }
    /// The passphrase or key that was just entered, which proves presence to the agent without
    /// another prompt.
    var opener: VaultOpener? { get set }
    /// The code of the only entry, if the agent returned it with the list.
    var code: FoundCode? { get }

    /// Sends a request, and waits for the response.
    ///
    /// - Parameter person: shows a message or asks a question; returns the answer to a question.
    func send(
        _ request: AgentRequest, asking person: @escaping (AgentResponse) -> AgentRequest?
    ) throws(AgentFailure) -> AgentResponse
    /// Becomes ready when the answer to a question is no longer needed; `nil` if it always is.
    var endOfQuestion: Polling.Interest? { get }
    /// Records that an entry was used, after the result has been delivered; an agent records its
    /// uses itself.
    func recordUse(of id: RecordID, at time: Int64)
}

/// A code that the agent computed while finding the entry.
package struct FoundCode: Sendable {
    package let text: String
    /// The time of the code in Unix seconds, and the number of steps after that time.
    package let moment: Int64
    package let offset: UInt64
}

extension OpenVault {
    /// Sends a request that asks no question.
    package func send(_ request: AgentRequest) throws(AgentFailure) -> AgentResponse {
        try send(request) { _ in nil }
    }
}
