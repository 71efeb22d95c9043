package import SecretVault
package import WatchwordSystem

/// A vault that the agent holds.
package final class AgentVault: OpenVault {
    package let place: VaultPlace
    /// The path to show in messages: that of the place, or the one given to the command.
    package var path: String
    package let generation: UInt64
    package let entries: [EntrySummary]
    package let slots: [SlotSummary]
    package let lastUses: [RecordID: Int64]
    /// The passphrase, key or device that opened the vault for this command; `nil` if the vault was
    /// already unlocked.
    package var opener: VaultOpener?
    package private(set) var code: FoundCode?

    private let client: AgentClient
    private let counters: [RecordID: UInt64]
    /// The state of the system agent's file, which this process cannot read; otherwise `nil`.
    private let identity: VaultIdentity?

    package init(
        _ client: AgentClient, _ place: VaultPlace, _ listing: VaultListing,
        openedBy opener: VaultOpener? = nil, identity: VaultIdentity? = nil
    ) {
        self.identity = identity
        self.client = client
        self.place = place
        path = place.path
        self.opener = opener
        generation = listing.generation
        entries = listing.entries.map(\.summary)
        slots = listing.slots
        lastUses = Dictionary(
            listing.uses.map { ($0.id, $0.time) }, uniquingKeysWith: { max($0, $1) })
        counters = Dictionary(
            listing.entries.compactMap { entry in
                entry.counter.map { (entry.summary.id, $0) }
            }, uniquingKeysWith: { max($0, $1) })
    }

    /// Keeps the code that came with the listing.
    ///
    /// - Parameter time: the time that was asked for.
    package func keepCode(from response: AgentResponse, at time: CodeTime?) {
        guard case .found(_, let issued) = response, case .moment(let moment, let offset, _) = time
        else { return }
        code = FoundCode(text: issued.text, moment: moment, offset: offset)
    }

    package var isHeldByAgent: Bool { true }
    package var isKeptBySystem: Bool { client.isSystem }
    // The vault may have been unlocked hours ago.
    package var unlockingProvesPresence: Bool { false }
    package var openedSlot: Int? { nil }

    package func counter(of id: RecordID) -> UInt64? { counters[id] }

    package func isSameVault(_ file: [UInt8]) throws(VaultError) -> Bool {
        guard let identity else { return try Vault.isSame(file, at: place.path) }
        return try Vault.identity(of: file).isSameVault(as: identity)
    }

    package func send(
        _ request: AgentRequest, asking person: (AgentResponse) -> AgentRequest?
    ) throws(AgentFailure) -> AgentResponse {
        guard request.hasRoom else { return .failed(.overLimit(.entries)) }
        return try client.send(request, asking: person)
    }

    package var endOfQuestion: Polling.Interest? { client.readable }

    package func recordUse(of id: RecordID, at time: Int64) {}
}

extension AgentRequest {
    /// Whether the agent accepts the edit: it refuses one that adds more entries than a vault can
    /// have.
    fileprivate var hasRoom: Bool {
        switch self {
        case .edit(_, .importing(let edit), _), .rehearse(_, .importing(let edit)):
            edit.items.count <= TransferLimits.entries
        default: true
        }
    }
}
