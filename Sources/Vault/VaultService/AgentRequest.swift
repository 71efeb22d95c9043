package import SecretVault
package import WatchwordCryptography

/// What a client asks the agent to do, or a command its own process (``OwnVault``).
package enum AgentRequest: Sendable {
    /// Opens a vault and holds its key; answered with its listing.
    case unlock(VaultPlace, VaultOpener, ceiling: Int, HoldingTime)
    /// Opens a vault for this connection only; answered with its listing.
    case open(VaultPlace, VaultOpener, ceiling: Int)
    /// Whether there is a vault, and what failures since this time (Unix seconds) have cost.
    case standing(VaultPlace, since: Int64)
    /// Forgets the key of a vault.
    case lock(VaultPlace)
    /// Forgets all keys.
    case lockAll
    /// Says which vaults are held; no timer is reset.
    case status
    /// Ends the agent.
    case stop
    /// Lists the entries; no timer is reset.
    case list(VaultPlace)
    /// Lists the entries that these names find, or all if one of them does not find exactly one;
    /// no timer is reset.
    ///
    /// No name occurs twice. If a single name finds a time-based entry that requires no check at each use, its code for
    /// this time is also computed, as by ``code(_:_:_:_:)``.
    case find(VaultPlace, [String], CodeTime?)
    /// Computes a code.
    case code(VaultPlace, RecordID, CodeTime, AgentPresence)
    /// Compares a code.
    case verify(VaultPlace, RecordID, CodeComparison, AgentPresence)
    /// The failures that are counted against an entry.
    case lockOut(VaultPlace, RecordID)
    /// Opens every record.
    case check(VaultPlace)
    /// Changes the vault in one save.
    case edit(VaultPlace, VaultEdit, AgentPresence)
    /// Proves presence for an entry that the next edit on this connection changes.
    case confirm(VaultPlace, RecordID, AgentPresence)
    /// The outcome of an edit that is not saved, as if every presence check had succeeded.
    case rehearse(VaultPlace, VaultEdit)
    /// Proves again what opens the vault, so that this connection may show secrets.
    case prove(VaultPlace, VaultOpener, ceiling: Int)
    /// Opens entries for a verb that shows secrets; after ``prove(_:_:ceiling:)``, and after the
    /// check that an entry requires. A check is for a single entry, and no entry occurs twice.
    ///
    /// - Parameter isUse: whether to record that the entries were used.
    case contents(VaultPlace, [RecordID], AgentPresence, isUse: Bool)
    /// Carries out a task of `login` or `key`, in the encoding of `DeviceLogin`; ``confirm(_:_:_:)``
    /// confirms the entries that an enrolment replaces.
    case login(VaultPlace, SecretBytes, AgentPresence)
    /// A step of moving a vault to or from the system agent.
    case move(VaultMove)
    /// Answers a question; only after ``AgentResponse/asks(_:isEchoed:)`` or
    /// ``AgentResponse/asksPIN(isRepeated:left:)``.
    case answer(SecretBytes)
    /// Cancels the check or the signature; only in place of an answer.
    case cancel
}

extension AgentRequest {
    /// Whether answering it may need several exchanges with a server, after waiting for others.
    var isSlow: Bool {
        if case .login = self { true } else { false }
    }

    /// Whether it locks vaults.
    var locks: Bool {
        switch self {
        case .lock, .lockAll: true
        default: false
        }
    }

    /// How the client proves presence for it.
    package var presence: AgentPresence {
        switch self {
        case .code(_, _, _, let presence), .verify(_, _, _, let presence),
            .edit(_, _, let presence), .confirm(_, _, let presence),
            .contents(_, _, let presence, isUse: _), .login(_, _, let presence):
            presence
        default: .none
        }
    }

    /// The same request for the vault at `place`, if it is about a vault.
    package func at(_ place: VaultPlace) -> AgentRequest {
        switch self {
        case .unlock(_, let opener, let ceiling, let time):
            .unlock(place, opener, ceiling: ceiling, time)
        case .open(_, let opener, let ceiling): .open(place, opener, ceiling: ceiling)
        case .standing(_, let moment): .standing(place, since: moment)
        case .lock: .lock(place)
        case .list: .list(place)
        case .find(_, let names, let time): .find(place, names, time)
        case .code(_, let id, let time, let presence): .code(place, id, time, presence)
        case .verify(_, let id, let comparison, let presence):
            .verify(place, id, comparison, presence)
        case .lockOut(_, let id): .lockOut(place, id)
        case .check: .check(place)
        case .edit(_, let edit, let presence): .edit(place, edit, presence)
        case .confirm(_, let id, let presence): .confirm(place, id, presence)
        case .rehearse(_, let edit): .rehearse(place, edit)
        case .prove(_, let opener, let ceiling): .prove(place, opener, ceiling: ceiling)
        case .contents(_, let ids, let presence, let isUse):
            .contents(place, ids, presence, isUse: isUse)
        case .login(_, let task, let presence): .login(place, task, presence)
        case .lockAll, .status, .stop, .move, .answer, .cancel: self
        }
    }

    /// Whether answering it needs neither a key derivation nor a person, nor waits for another
    /// process.
    var isQuick: Bool {
        switch self {
        case .lock, .lockAll, .status, .stop, .list, .find, .lockOut, .standing: true
        default: false
        }
    }
}

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
