package import SecretVault
package import WatchwordCryptography
package import WatchwordSystem

/// A request of a client to the agent, or of a command to its own process (``OwnVault``).
package enum AgentRequest: Sendable {
    /// Opens a vault and holds its key; the response is the listing.
    case unlock(VaultPlace, VaultOpener, ceiling: Int, HoldingTime)
    /// Opens a vault for this connection only; the response is the listing.
    case open(VaultPlace, VaultOpener, ceiling: Int)
    /// Asks whether the vault exists, and for the consequences of failures since this time (Unix
    /// seconds).
    case standing(VaultPlace, since: Int64)
    /// Locks a vault: wipes its key.
    case lock(VaultPlace)
    /// Locks all vaults: wipes all keys.
    case lockAll
    /// Asks which vaults are held; no timer is reset.
    case status
    /// Ends the agent, which wipes all keys.
    case stop
    /// Lists the entries; no timer is reset.
    case list(VaultPlace)
    /// Lists the entries that these names find, or all if one of them does not find exactly one;
    /// no timer is reset.
    ///
    /// No name occurs twice. If a single name finds a time-based entry that requires no check at
    /// each use, its code for this time is also computed, as by ``code(_:_:_:_:)``.
    case find(VaultPlace, [String], CodeTime?)
    /// Computes the code of an entry.
    case code(VaultPlace, RecordID, CodeTime, AgentPresence)
    /// Compares a presented code with those of an entry.
    case verify(VaultPlace, RecordID, CodeComparison, AgentPresence)
    /// Asks for the failures that are counted against an entry.
    case lockOut(VaultPlace, RecordID)
    /// Checks the whole vault by opening every record.
    case check(VaultPlace)
    /// Changes the vault in one save.
    case edit(VaultPlace, VaultEdit, AgentPresence)
    /// Proves presence for an entry that the next edit on this connection changes.
    case confirm(VaultPlace, RecordID, AgentPresence)
    /// Asks for the outcome of an edit that is not saved, as if every presence check had succeeded.
    case rehearse(VaultPlace, VaultEdit)
    /// Proves again that the client can open the vault, so that this connection may show secrets.
    case prove(VaultPlace, VaultOpener, ceiling: Int)
    /// Opens entries for a command that shows secrets; requires an earlier ``prove(_:_:ceiling:)``
    /// and the check that an entry requires. A check is for a single entry, and no entry occurs
    /// twice.
    ///
    /// - Parameter isUse: whether to record that the entries were used.
    case contents(VaultPlace, [RecordID], AgentPresence, isUse: Bool)
    /// Undoes the last change as planned, after ``confirm(_:_:_:)`` for each entry that requires a
    /// check; `nil` asks for the plan, and changes nothing.
    case undo(VaultPlace, [UndoneChange]?)
    /// Merges another file of the vault; works like ``undo(_:_:)``.
    case merge(VaultPlace, MergeRequest)
    /// Performs a request of `login` or `key`, in the encoding of `DeviceLogin`; entries that an
    /// enrolment replaces require an earlier ``confirm(_:_:_:)``.
    case login(VaultPlace, SecretBytes, AgentPresence)
    /// A step of moving a vault to or from the system agent.
    case move(VaultMove)
    /// Answers a question; allowed only after ``AgentResponse/asks(_:isEchoed:)`` or
    /// ``AgentResponse/asksPIN(isRepeated:left:)``.
    case answer(SecretBytes)
    /// Cancels the check or the signature; allowed only in place of an answer.
    case cancel
}

extension AgentRequest {
    /// Whether the request may need several exchanges with a server, after waiting for other
    /// requests.
    var isSlow: Bool {
        if case .login = self { true } else { false }
    }

    /// Whether the request locks vaults.
    var locks: Bool {
        switch self {
        case .lock, .lockAll: true
        default: false
        }
    }

    /// How the client proves presence for the request.
    package var presence: AgentPresence {
        switch self {
        case .code(_, _, _, let presence), .verify(_, _, _, let presence),
            .edit(_, _, let presence), .confirm(_, _, let presence),
            .contents(_, _, let presence, isUse: _), .login(_, _, let presence):
            presence
        default: .none
        }
    }

    /// The same request, but for the vault at `place` if the request concerns one vault.
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
        case .undo(_, let plan): .undo(place, plan)
        case .merge(_, let request): .merge(place, request)
        case .login(_, let request, let presence): .login(place, request, presence)
        case .lockAll, .status, .stop, .move, .answer, .cancel: self
        }
    }

    /// Whether the request needs no key derivation and no person, and waits for no other process.
    var isQuick: Bool {
        switch self {
        case .lock, .lockAll, .status, .stop, .list, .find, .lockOut, .standing: true
        default: false
        }
    }
}

// The limits of one request. The agent refuses larger ones from any client.
extension AgentRequest {
    /// The maximum number of names: the agent searches for each name, but sends all entries only
    /// once.
    static let mostNames = 16
    /// The total size of the names in bytes.
    private static let longestNames = 8192
    /// The maximum number of entries to open at once: that many secrets of the largest size fit in
    /// one response.
    package static let mostContents = 500
    /// The allowed ceilings on the cost of deriving a key, as base-2 logarithms of scrypt's N.
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

    /// Whether the request stays within the agent's limits.
    var isWithinLimits: Bool {
        switch self {
        case .unlock(_, _, let ceiling, _), .open(_, _, let ceiling), .prove(_, _, let ceiling):
            AgentRequest.ceilings.contains(ceiling)
        case .find(_, let names, _): AgentRequest.canFind(names)
        case .contents(_, let ids, _, _): AgentRequest.canOpen(ids)
        default: true
        }
    }

    /// Whether the agent accepts a search for these names.
    private static func canFind(_ names: [String]) -> Bool {
        names.count <= mostNames && Set(names).count == names.count
            && names.reduce(0) { $0 + $1.utf8.count } <= longestNames
    }

    /// Whether the agent accepts a request to open these entries at once.
    private static func canOpen(_ ids: [RecordID]) -> Bool {
        ids.count <= mostContents && Set(ids).count == ids.count
    }

    /// Whether a frame that begins with these bytes needs almost no memory, and is therefore always
    /// answered: a request to lock vaults, to report the held vaults, or to end the agent.
    package static func isAlwaysAnswered(_ frame: Span<UInt8>) -> Bool {
        frame.count > 1
            && [Kind.lock, .lockAll, .status, .stop].map(\.rawValue).contains(frame[1])
    }
}

extension AgentRequest: Transferable {
    // `lockAll` and `stop` are the same in all versions.
    enum Kind: UInt8, CaseIterable, Transferable {
        case unlock, lock, lockAll, status, stop, list, code, verify, lockOut, check, answer
        case cancel, edit, confirm, rehearse, prove, contents, open, standing, login, move, find
        case undo, merge
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .unlock(let place, let opener, let ceiling, let time):
            output.append(Kind.unlock, place, opener, ceiling, time)
        case .open(let place, let opener, let ceiling):
            output.append(Kind.open, place, opener, ceiling)
        case .standing(let place, let moment): output.append(Kind.standing, place, moment)
        case .lock(let place): output.append(Kind.lock, place)
        case .lockAll: output.append(Kind.lockAll)
        case .status: output.append(Kind.status)
        case .stop: output.append(Kind.stop)
        case .list(let place): output.append(Kind.list, place)
        case .find(let place, let names, let time): output.append(Kind.find, place, names, time)
        case .code(let place, let id, let time, let presence):
            output.append(Kind.code, place, id, time, presence)
        case .verify(let place, let id, let comparison, let presence):
            output.append(Kind.verify, place, id, comparison, presence)
        case .lockOut(let place, let id): output.append(Kind.lockOut, place, id)
        case .check(let place): output.append(Kind.check, place)
        case .confirm(let place, let id, let presence):
            output.append(Kind.confirm, place, id, presence)
        case .rehearse(let place, let edit): output.append(Kind.rehearse, place, edit)
        case .edit(let place, let edit, let presence):
            output.append(Kind.edit, place, edit, presence)
        case .undo(let place, let plan): output.append(Kind.undo, place, plan)
        case .merge(let place, let request): output.append(Kind.merge, place, request)
        case .move(let move): output.append(Kind.move, move)
        case .answer(let answer): output.append(Kind.answer, answer)
        case .cancel: output.append(Kind.cancel)
        case .prove(let place, let opener, let ceiling):
            output.append(Kind.prove, place, opener, ceiling)
        case .login(let place, let request, let presence):
            output.append(Kind.login, place, request, presence)
        case .contents(let place, let ids, let presence, let isUse):
            output.append(Kind.contents, place, ids, presence, isUse)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .unlock: try fields.make(Self.unlock, from: bytes)
            case .open: try fields.make(Self.open, from: bytes)
            case .standing: try fields.make(Self.standing, from: bytes)
            case .lock: try fields.make(Self.lock, from: bytes)
            case .lockAll: .lockAll
            case .status: .status
            case .stop: .stop
            case .list: try fields.make(Self.list, from: bytes)
            case .find:
                .find(
                    try fields.value(bytes), try fields.list(bytes, most: AgentRequest.mostNames),
                    try fields.value(bytes))
            case .code: try fields.make(Self.code, from: bytes)
            case .verify: try fields.make(Self.verify, from: bytes)
            case .lockOut: try fields.make(Self.lockOut, from: bytes)
            case .check: try fields.make(Self.check, from: bytes)
            case .confirm: try fields.make(Self.confirm, from: bytes)
            case .rehearse: try fields.make(Self.rehearse, from: bytes)
            case .edit: try fields.make(Self.edit, from: bytes)
            case .undo: try fields.make(Self.undo, from: bytes)
            case .merge: try fields.make(Self.merge, from: bytes)
            case .move: try fields.make(Self.move, from: bytes)
            case .answer: try fields.make(Self.answer, from: bytes)
            case .cancel: .cancel
            case .prove: try fields.make(Self.prove, from: bytes)
            case .login: try fields.make(Self.login, from: bytes)
            case .contents:
                .contents(
                    try fields.value(bytes),
                    try fields.list(bytes, most: AgentRequest.mostContents),
                    try fields.value(bytes), isUse: try fields.value(bytes))
            }
        guard isWithinLimits else { throw Unreadable() }
    }

    /// Whether a frame that begins with these bytes contains a change of the vault.
    static func isEdit(_ frame: Span<UInt8>) -> Bool {
        let edits = [Kind.edit, .rehearse, .undo, .merge, .login, .move].map(\.rawValue)
        return frame.count > 1 && edits.contains(frame[1])
    }

    /// Whether a frame that begins with these bytes moves a vault.
    package static func isMove(_ frame: Span<UInt8>) -> Bool {
        frame.count > 1 && frame[1] == Kind.move.rawValue
    }

    /// Whether a request of a different version may be read: its encoding is the same in all
    /// versions.
    static func isUniversal(_ request: Span<UInt8>) -> Bool {
        request.count == 1
            && [Kind.stop.rawValue, Kind.lockAll.rawValue].contains(request[0])
    }
}

/// Another file of the vault, and the owner's decisions about the merge.
package struct MergeRequest: Sendable {
    /// The bytes of the file; empty if this process has opened it (``MergeFiles/copy``).
    package let file: [UInt8]
    /// The entries that may be wiped.
    package let acceptedWipes: [RecordID]
    package let takesOldEdits: Bool
    /// The changes of the merge, as shown to the owner; `nil` asks for them, and changes nothing.
    package let seen: [MergeChange]?

    /// The size in bytes of the largest file that fits into a request, together with the decisions.
    package static let largestFile = AgentProtocol.largestEdit - (6 << 20)

    package init(
        _ file: [UInt8], acceptedWipes: [RecordID] = [], takesOldEdits: Bool = false,
        seen: [MergeChange]? = nil
    ) {
        self.file = file
        self.acceptedWipes = acceptedWipes
        self.takesOldEdits = takesOldEdits
        self.seen = seen
    }
}

extension MergeRequest: Transferable {
    package func write(to output: FrameWriter) {
        output.append(string: file.span)
        output.append(acceptedWipes, takesOldEdits, seen)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            try fields.data(bytes, limit: MergeRequest.largestFile),
            acceptedWipes: try fields.value(bytes), takesOldEdits: try fields.value(bytes),
            seen: try fields.value(bytes))
    }
}

/// How presence is proved for an entry that requires it at each use.
package enum AgentPresence: Sendable {
    /// No proof: unlocking the vault, or an earlier check on this connection, is enough.
    case none
    /// With the passphrase or the recovery key.
    case opener(VaultOpener)
    /// With the system's PAM modules, which show this purpose.
    case modules(String)

    /// Whether presence is not proved.
    package var isNone: Bool { if case .none = self { true } else { false } }
}

extension AgentPresence: Transferable {
    private enum Kind: UInt8, Transferable {
        case none, opener, modules
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .none: output.append(Kind.none)
        case .opener(let opener): output.append(Kind.opener, opener)
        case .modules(let purpose): output.append(Kind.modules, purpose)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .none: .none
            case .opener: try fields.make(Self.opener, from: bytes)
            case .modules: try fields.make(Self.modules, from: bytes)
            }
    }
}
