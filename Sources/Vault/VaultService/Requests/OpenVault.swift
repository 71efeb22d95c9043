package import SecretVault
package import WatchwordSystem

/// A vault that a command uses: this process has opened it (``OwnVault``), or the agent holds it
/// (``AgentVault``).
///
/// A command sends the same requests to both. The presence that a request proves is asked for in
/// the command, before the request; only the system's modules and a TPM ask while it is performed.
package protocol OpenVault: AnyObject {
    /// The place that requests name.
    var place: VaultPlace { get }
    /// The path that messages name.
    var path: String { get }
    /// The entries; from the agent, possibly only those that the requested names find.
    var entries: [EntrySummary] { get }
    /// The ways to open the vault.
    var slots: [SlotSummary] { get }
    /// When each entry was last used on this machine, in Unix seconds, as far as that is known.
    var lastUses: [RecordID: Int64] { get }
    var generation: UInt64 { get }
    /// The counter for the next code of an entry; `nil` if it has none.
    func counter(of id: RecordID) -> UInt64?
    /// Whether `file` is a copy or another generation of this vault.
    func isSameVault(_ file: [UInt8]) throws(VaultError) -> Bool

    /// Whether the agent holds the vault, which somebody may have unlocked hours ago: a verb that
    /// shows secrets then proves again what opens the vault, and earlier checks may be reused.
    var isHeldByAgent: Bool { get }
    /// Whether the system agent keeps the vault, so that its checks run as another user.
    var isKeptBySystem: Bool { get }
    /// Whether having unlocked the vault counts as the first check of each entry.
    var unlockingProvesPresence: Bool { get }
    /// The number of the slot that opened the vault for this command; `nil` if it is not known.
    var openedSlot: Int? { get }
    /// What proves presence to the agent without another prompt, because it was just entered.
    var opener: VaultOpener? { get set }
    /// The code of the only entry, if it came with the list.
    var code: FoundCode? { get }

    /// Sends a request, and waits for the response.
    ///
    /// - Parameter person: shows a message or asks a question; returns the answer to a question.
    func send(
        _ request: AgentRequest, asking person: @escaping (AgentResponse) -> AgentRequest?
    ) throws(AgentFailure) -> AgentResponse
    /// Becomes ready when the answer to a question is no longer needed; `nil` if it always is.
    var endOfQuestion: Polling.Interest? { get }
    /// Records that an entry was used, after the result has been delivered; the agent does it
    /// itself.
    func recordUse(of id: RecordID, at time: Int64)
}

/// A code that the agent has computed when it found the entry.
package struct FoundCode: Sendable {
    package let text: String
    /// Its time in Unix seconds, and the number of steps after that.
    package let moment: Int64
    package let offset: UInt64
}

extension OpenVault {
    /// Sends a request that asks nobody.
    package func send(_ request: AgentRequest) throws(AgentFailure) -> AgentResponse {
        try send(request) { _ in nil }
    }
}
