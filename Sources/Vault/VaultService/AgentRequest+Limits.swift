internal import SecretVault

// What one request may ask for. The agent refuses more, whatever the client is.
extension AgentRequest {
    /// The agent searches for each name, while it sends all entries once.
    static let mostNames = 16
    /// The total size of the names in bytes.
    private static let longestNames = 8192
    /// How many of the largest secrets fit in one response.
    package static let mostContents = 500
    /// The ceilings on the cost of deriving a key.
    static let ceilings = 10...Vault.maximumCeiling

    /// Asks for the entries that these names find; for all if there are many names.
    ///
    /// - Parameter time: the time of the code that is needed; `nil` for none.
    package static func entries(
        named names: [String], in place: VaultPlace, codeAt time: CodeTime? = nil
    ) -> AgentRequest {
        var known: Set<String> = []
        let names = names.filter { known.insert($0).inserted }
        return canFind(names) ? .find(place, names, time) : .list(place)
    }

    /// Whether the agent carries out a request for so much.
    var isWithinLimits: Bool {
        switch self {
        case .unlock(_, _, let ceiling, _), .open(_, _, let ceiling), .prove(_, _, let ceiling):
            AgentRequest.ceilings.contains(ceiling)
        case .find(_, let names, _): AgentRequest.canFind(names)
        case .contents(_, let ids, _, _): AgentRequest.canOpen(ids)
        default: true
        }
    }

    /// Whether the agent searches for these names.
    private static func canFind(_ names: [String]) -> Bool {
        names.count <= mostNames && Set(names).count == names.count
            && names.reduce(0) { $0 + $1.utf8.count } <= longestNames
    }

    /// Whether the agent opens these entries at once.
    private static func canOpen(_ ids: [RecordID]) -> Bool {
        ids.count <= mostContents && Set(ids).count == ids.count
    }

    /// Whether a frame that begins with these bytes needs almost no memory, and is therefore
    /// answered whatever other requests take: it locks vaults, says what is held, or ends the agent.
    package static func isAlwaysAnswered(_ frame: Span<UInt8>) -> Bool {
        frame.count > 1
            && [Kind.lock, .lockAll, .status, .stop].map(\.rawValue).contains(frame[1])
    }
}
