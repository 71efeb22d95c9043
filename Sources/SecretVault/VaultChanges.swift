internal import Cryptography
internal import OneTimePassword

/// What one saving of the vault changes; see ``UnlockedVault/update(_:)``.
public struct VaultChanges {
    var state: VaultState
    private(set) var key: VaultKey
    var isChanged = false
    var erasesPrevious = false
    private var holders: SecretHolders?

    init(_ current: VaultState, key: VaultKey, after mark: GenerationMark?) throws(VaultError) {
        self.key = key
        state = try current.next(after: mark)
    }

    /// Saves, although nothing but the list of the entries may change; what was wiped is purged, too.
    mutating func saveInAnyCase() {
        isChanged = true
        erasesPrevious = true
    }

    /// What the list shows now.
    public var entries: [EntrySummary] { state.records.map(\.summary) }

    /// What the list shows now of one entry.
    public func entry(_ id: RecordID) throws(VaultError) -> EntrySummary {
        state.records[try state.index(of: id)].summary
    }

    /// Opens an entry as it is now, for a change that depends on what it holds.
    ///
    /// Whoever must be there is asked before the change begins: others wait for the vault meanwhile.
    ///
    /// - Throws: ``VaultError/noSuchEntry``, ``VaultError/wiped``, ``VaultError/damaged(_:)``.
    public func content(of id: RecordID) throws(VaultError) -> EntryContent {
        try state.records[try state.index(of: id)].content(with: key)
    }

    /// The entries that hold the same secret as `content`, whatever their names are.
    ///
    /// They come in the order of the list; a wiped entry holds none. Nothing is opened for it.
    public mutating func entries(withSecretOf content: EntryContent) throws(VaultError)
        -> [RecordID]
    {
        let fingerprint = try key.fingerprint(of: content.payload)
        // Made when it is asked for first: most changes never ask.
        if holders == nil { holders = SecretHolders(state.records) }
        return holders?.ids(of: fingerprint) ?? []
    }

    /// The entries that give the same codes as `content`: the same secret, used in the same way.
    ///
    /// Names and counters may differ. The same secret with another hash function, length or time
    /// step is another entry.
    public mutating func entries(equivalentTo content: EntryContent) throws(VaultError)
        -> [RecordID]
    {
        var equivalent: [RecordID] = []
        for id in try entries(withSecretOf: content) {
            let record = state.records[try state.index(of: id)]
            if record.listed.traits == content.traits { equivalent.append(id) }
        }
        return equivalent
    }

    /// Adds an entry at the end.
    ///
    /// - Parameter now: Unix seconds, kept as the time when it was added.
    /// - Throws: ``VaultError/overLimit(_:)``.
    @discardableResult public mutating func add(
        _ content: EntryContent, accessControl: AccessControl? = nil, now: Int64
    ) throws(VaultError) -> RecordID {
        guard state.records.count < VaultLimits.entries else { throw .overLimit(.entries) }
        let bytes = try Chance.bytes(count: RecordID.count)
        let id = RecordID(bytes.span)
        let line = RecordLine(
            id: id, revision: state.generation,
            accessControl: accessControl ?? .standard(for: content.kind))
        let record = try seal(content, as: line, created: max(now, 0))
        state.append(record)
        holders?.add(id, holding: record.listed.fingerprint)
        isChanged = true
        return id
    }

    /// Puts other content in the place of an entry's, name included; its id, place, time and access
    /// control stay.
    ///
    /// - Throws: ``VaultError/wiped`` for an entry that was wiped: its record never opens again.
    public mutating func replace(_ id: RecordID, with content: EntryContent) throws(VaultError) {
        let old = state.records[try state.index(of: id)]
        guard case .sealed = old.body else { throw .wiped }
        let line = RecordLine(
            id: id, revision: state.generation, accessControl: old.line.accessControl)
        let record = try seal(content, as: line, created: old.listed.created)
        try state.replace(record)
        holders?.remove(id, holding: old.listed.fingerprint)
        let state = state
        holders?.insert(id, holding: record.listed.fingerprint) { other in
            state.lists(other, before: id)
        }
        isChanged = true
    }

    /// Gives an entry another name; its secret stays sealed.
    public mutating func rename(_ id: RecordID, issuer: String, account: String)
        throws(VaultError)
    {
        try VaultChanges.checkName(issuer, account)
        try state.rename(id, issuer: issuer, account: account)
        isChanged = true
    }

    /// Takes an entry away, or the name that is left of a wiped one.
    ///
    /// - Parameter purge: whether the previous generation goes, too, which still holds the entry.
    public mutating func remove(_ id: RecordID, purge: Bool) throws(VaultError) {
        let old = state.records[try state.index(of: id)]
        try state.remove(id)
        holders?.remove(id, holding: old.listed.fingerprint)
        isChanged = true
        if purge { erasesPrevious = true }
    }

    /// Moves a counter-based entry on by one.
    ///
    /// - Returns: the entry as it was, with the counter that is now spent.
    public mutating func advanceCounter(of id: RecordID) throws(VaultError) -> EntryContent {
        let content = try content(of: id)
        guard case .oneTimePassword(let credential) = content,
            case .counter(let counter) = credential.movingFactor
        else { throw .otherKind }
        guard counter < .max else { throw .counterExhausted }
        try replace(id, with: .oneTimePassword(VaultChanges.moved(credential, to: counter + 1)))
        return content
    }

    static func moved(_ credential: Credential, to counter: UInt64) throws(VaultError)
        -> Credential
    {
        do {
            return try Credential(
                issuer: credential.issuer, account: credential.account, key: credential.key,
                algorithm: credential.algorithm, style: credential.style,
                movingFactor: .counter(counter), otherParameters: credential.otherParameters)
        } catch {
            preconditionFailure("what makes one credential makes the next")
        }
    }

    /// Gives the vault another key: every record's secret is sealed anew, and the key is sealed to each slot.
    ///
    /// Who opens the vault now opens it afterwards, by the same means; who has an older file and what opened
    /// that has nothing of what is saved from now on. The previous generation goes, since the old key opens
    /// it. Revisions stay, and so do the failures that are counted against entries.
    public mutating func rekey() throws(VaultError) {
        let new = try VaultKey.make(of: state.vaultID)
        state = try state.rekeyed(from: key, to: new)
        key = new
        forgetHolders()
        isChanged = true
        erasesPrevious = true
    }

    /// To be called when secrets go, or fingerprints change.
    mutating func forgetHolders() { holders = nil }

    private func seal(_ content: EntryContent, as line: RecordLine, created: Int64)
        throws(VaultError) -> VaultState.Record
    {
        try VaultChanges.checkName(content.issuer, content.account)
        return try VaultState.Record.sealing(
            content.payload, as: line, created: created, issuer: content.issuer,
            account: content.account, traits: content.traits, under: key)
    }

    private static func checkName(_ issuer: String, _ account: String) throws(VaultError) {
        guard max(issuer.utf8.count, account.utf8.count) <= VaultLimits.nameSize else {
            throw .overLimit(.name)
        }
        guard !issuer.hasSpaceAround, !account.hasSpaceAround else { throw .spaceAroundName }
    }
}
