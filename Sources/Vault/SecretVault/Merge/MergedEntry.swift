internal import WatchwordCryptography

/// One copy of an entry in a merge, with its secret; or the result of merging two copies.
struct MergedEntry {
    let line: RecordLine
    var properties: EntryProperties
    var access: AccessControl
    /// `nil` if the entry was wiped.
    private(set) var payload: RecordPayload?
    private(set) var tombstone: Tombstone?

    var id: RecordID { line.id }
    var isWiped: Bool { tombstone != nil }
    var isEnrolled: Bool { properties.traits == .enrolled }

    /// Whether replacing its secret requires a check.
    var requiresCheck: Bool { access.presence.isPerUse && !isWiped }

    /// Opens a record.
    init(_ record: VaultState.Record, with key: VaultKey) throws(VaultError) {
        line = record.line
        properties = record.listed.properties
        access = record.line.accessControl
        switch record.body {
        case .sealed:
            payload = try record.opened(with: key)
            tombstone = nil
        case .tombstone(let found):
            payload = nil
            tombstone = found
        }
    }

    /// Replaces the secret with a tombstone if the other copy was wiped; keeps the earlier
    /// tombstone.
    mutating func wipe(like other: MergedEntry) {
        guard let found = other.tombstone else { return }
        payload = nil
        tombstone = tombstone.map { min($0, found) } ?? found
    }

    /// Takes the counter of the other copy if it is greater, or its enrolled secret if it is newer.
    ///
    /// - Returns: whether the enrolled secret was presented from both copies independently.
    mutating func advance(to other: MergedEntry, comparing order: EnrolledOrder.Function) -> Bool {
        guard let own = payload, let theirs = other.payload else { return false }
        if isEnrolled, other.isEnrolled, case .bytes(let first) = own,
            case .bytes(let second) = theirs
        {
            let found = order(first, second)
            if found == .second { payload = theirs }
            return found == .forked
        }
        payload = own.notBehind(theirs)
        return false
    }

    /// The parts that an edit made different from `other`.
    ///
    /// Counters and enrolled secrets are ignored, and so are the secret and the access control if
    /// either copy was wiped.
    func parts(differingFrom other: MergedEntry) throws(VaultError) -> [EntryPart] {
        var parts: [EntryPart] = []
        let (own, theirs) = (properties, other.properties)
        if (own.issuer, own.account) != (theirs.issuer, theirs.account) { parts.append(.name) }
        if own.details != theirs.details { parts.append(.details) }
        guard !isWiped, !other.isWiped else { return parts }
        let isSecretEqual = try isSecretEqual(to: other)
        if own.traits != theirs.traits || !isSecretEqual { parts.append(.secret) }
        if access != other.access { parts.append(.accessControl) }
        return parts
    }

    private func isSecretEqual(to other: MergedEntry) throws(VaultError) -> Bool {
        if isEnrolled, other.isEnrolled { return true }
        guard let own = payload, let theirs = other.payload else { return true }
        return try own.notBehind(theirs).isExactly(theirs.notBehind(own))
    }

    /// Whether both have the same secret, and the same counter if there is one.
    func hasPayload(of other: MergedEntry) throws(VaultError) -> Bool {
        guard let own = payload, let theirs = other.payload else {
            return isWiped == other.isWiped
        }
        return try own.isExactly(theirs)
    }

    /// A second entry with this content, beside one that keeps the ID.
    ///
    /// Its ID depends only on the edit, so that two devices that merge independently add the same
    /// entry.
    func second(edited edit: EntryEdit) -> MergedEntry {
        let text = Array("watchword-vault second".utf8) + id.bytes + properties.edited.save.bytes
        let bytes = Array(sha256(text.span).prefix(RecordID.count))
        let line = RecordLine(
            id: RecordID(bytes.span), revision: line.revision, accessControl: access)
        var second = MergedEntry(line: line, self)
        let mark = "(conflict)"
        let account = properties.account.isEmpty ? mark : properties.account + " " + mark
        if account.utf8.count <= VaultLimits.nameSize { second.properties.account = account }
        second.properties.edited = edit
        return second
    }

    private init(line: RecordLine, _ other: MergedEntry) {
        self.line = line
        properties = other.properties
        access = other.access
        payload = other.payload
        tombstone = other.tombstone
    }

    /// The record with this content, in a file of this generation.
    ///
    /// - Parameter former: the current record, which is not resealed if the secret and the access
    ///   control are the same.
    func sealed(like former: VaultState.Record?, in generation: UInt64, under key: VaultKey)
        throws(VaultError) -> VaultState.Record
    {
        if let former {
            let present = try MergedEntry(former, with: key)
            if access == present.access, properties.traits == present.properties.traits,
                try hasPayload(of: present)
            {
                var listed = former.listed
                listed.properties = properties
                return VaultState.Record(line: former.line, listed: listed, body: former.body)
            }
        }
        if let tombstone {
            let listed = ManifestEntry(
                id: id, revision: line.revision, secret: .wiped(tombstone), properties: properties)
            return VaultState.Record(line: line, listed: listed, body: .tombstone(tombstone))
        }
        guard let payload else { throw .wiped }
        let line = RecordLine(id: id, revision: generation, accessControl: access)
        return try .sealing(payload, as: line, properties, to: former?.device, under: key)
    }
}

extension RecordPayload {
    /// Whether both have the same bytes.
    func isExactly(_ other: RecordPayload) throws(VaultError) -> Bool {
        try sealedForm() == other.sealedForm()
    }
}

extension Tombstone: Comparable {
    /// Whether the first one is earlier.
    public static func < (first: Tombstone, second: Tombstone) -> Bool {
        (first.time, first.reason.rawValue) < (second.time, second.reason.rawValue)
    }
}

extension AccessControl {
    /// The stricter of the two settings in each part.
    ///
    /// If they require different checks, the result requires this one's.
    func stricter(than other: AccessControl) -> AccessControl {
        AccessControl(
            presence: presence.stricter(than: other.presence),
            onFailure: onFailure.stricter(than: other.onFailure),
            reuse: stricterReuse(than: other))
    }

    /// The shorter time, of those whose uses require a check.
    private func stricterReuse(than other: AccessControl) -> ReuseTime {
        guard presence.isPerUse else { return other.reuse }
        guard other.presence.isPerUse else { return reuse }
        return reuse.seconds <= other.reuse.seconds ? reuse : other.reuse
    }
}

extension AccessControl.Presence {
    fileprivate func stricter(than other: Self) -> Self {
        switch (self, other) {
        case (.perUnlock, _), (.perUse(.any), .perUse): other
        default: self
        }
    }
}
