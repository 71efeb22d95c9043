internal import WatchwordCryptography

/// One copy of an entry in a merge, with its secret; or the result of merging two copies.
struct MergedEntry {
    private(set) var line: RecordLine
    var properties: EntryProperties
    var access: AccessControl
    /// The ID of the device key to which the secret is bound; `nil` if it is not bound.
    var device: DeviceID?
    /// The secret; `nil` if the entry was wiped.
    private(set) var payload: RecordPayload?
    private(set) var tombstone: Tombstone?

    var id: RecordID { line.id }
    var isWiped: Bool { tombstone != nil }
    var isEnrolled: Bool { properties.traits == .enrolled }
    var isCounter: Bool { properties.traits.kind == .hotp }

    /// The secret, if it is bound to a device key that is not here.
    var closed: ClosedSecret? { if case .closed(let secret) = payload { secret } else { nil } }

    /// The number that orders the states of the secret, as the manifest lists it for a bound entry.
    var state: UInt64 { payload?.state(of: properties.traits.kind) ?? 0 }

    /// Whether replacing the secret requires a check.
    var requiresCheck: Bool { access.presence.isPerUse && !isWiped }

    /// Opens the secret of `record`, unless it was wiped or is bound elsewhere.
    init(_ record: VaultState.Record, with key: VaultKey) throws(VaultError) {
        line = record.line
        properties = record.listed.properties
        access = record.line.accessControl
        switch record.body {
        case .sealed:
            device = record.device
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
        (payload, device) = (nil, nil)
        tombstone = tombstone.map { min($0, found) } ?? found
    }

    /// Takes the secret and everything sealed with it from the other copy: only the device to which
    /// that copy is bound can change these.
    mutating func takeSealedPart(of other: MergedEntry) {
        (line, access, device, payload) = (other.line, other.access, other.device, other.payload)
        properties.traits = other.properties.traits
    }

    /// Takes the counter of the other copy if that is greater, or the enrolled secret if that is
    /// newer.
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

    /// The parts that differ from `other` because of an edit.
    ///
    /// Counters and enrolled secrets are ignored, and so are the secret and the access control if
    /// either copy was wiped. A secret that cannot be compared here counts as equal.
    func parts(differingFrom other: MergedEntry) throws(VaultError) -> [EntryPart] {
        var parts: [EntryPart] = []
        let (own, theirs) = (properties, other.properties)
        if (own.issuer, own.account) != (theirs.issuer, theirs.account) { parts.append(.name) }
        if own.details != theirs.details { parts.append(.details) }
        guard !isWiped, !other.isWiped else { return parts }
        let isSecretEqual = try isSecretEqual(to: other)
        if own.traits != theirs.traits || !isSecretEqual { parts.append(.secret) }
        if access != other.access || device != other.device { parts.append(.accessControl) }
        return parts
    }

    private func isSecretEqual(to other: MergedEntry) throws(VaultError) -> Bool {
        if isEnrolled, other.isEnrolled { return true }
        guard let own = payload, let theirs = other.payload else { return true }
        guard closed == nil, other.closed == nil else { return !isOtherKey(than: other) }
        return try own.notBehind(theirs).isExactly(theirs.notBehind(own))
    }

    /// Whether both are closed, and have different keys or secrets.
    private func isOtherKey(than other: MergedEntry) -> Bool {
        device == other.device && closed?.fingerprint != other.closed?.fingerprint
    }

    /// Whether a merge must keep the two copies as one entry: a wiped entry stays wiped, an
    /// enrolment must not be duplicated, and a closed secret cannot be compared.
    func staysOne(with other: MergedEntry) -> Bool {
        isWiped || other.isWiped || isEnrolled && other.isEnrolled || closed != nil
            || other.closed != nil
    }

    /// Whether only ``state`` shows which of two closed secrets of one device is newer.
    func isCounted(like other: MergedEntry) -> Bool {
        access == other.access && properties.traits == other.properties.traits
            && (isEnrolled || isCounter && !isOtherKey(than: other))
    }

    /// Whether this entry needs a revision greater than that of `own`.
    ///
    /// The same device has sealed `other` with different content, and only a greater revision shows
    /// other files that this entry is newer.
    func overrules(_ other: MergedEntry, from own: MergedEntry) throws(VaultError) -> Bool {
        guard device != nil, device == other.device,
            own.line.revision <= other.line.revision
        else { return false }
        let isSame = try hasPayload(of: other)
        return !isSame || access != other.access
    }

    /// Whether this entry has a newer state of the same secret than `former`.
    func isAdvanced(from former: MergedEntry) throws(VaultError) -> Bool {
        guard closed != nil || former.closed != nil else { return try !hasPayload(of: former) }
        return (isEnrolled || device == former.device) && state > former.state
    }

    /// Whether both have the same secret, and the same counter if there is one.
    func hasPayload(of other: MergedEntry) throws(VaultError) -> Bool {
        guard let own = payload, let theirs = other.payload else {
            return isWiped == other.isWiped
        }
        return try own.isExactly(theirs)
    }

    /// A second entry with this content, beside the entry that keeps the ID.
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
        device = other.device
        payload = other.payload
        tombstone = other.tombstone
    }

    /// The record with this content, in a file of this generation.
    ///
    /// - Parameter former: the current record, which is not resealed if its secret, access control
    ///   and device are unchanged.
    func sealed(like former: VaultState.Record?, in generation: UInt64, under key: VaultKey)
        throws(VaultError) -> VaultState.Record
    {
        if let former {
            let present = try MergedEntry(former, with: key)
            if access == present.access, device == present.device,
                properties.traits == present.properties.traits, try hasPayload(of: present)
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
        // Only the device can seal this secret, so the record keeps the revision that the device
        // gave it.
        let line =
            closed != nil
            ? line : RecordLine(id: id, revision: generation, accessControl: access)
        return try .sealing(payload, as: line, properties, to: device, under: key)
    }
}

extension RecordPayload {
    /// Whether both have the same bytes.
    func isExactly(_ other: RecordPayload) throws(VaultError) -> Bool {
        try sealedForm() == other.sealedForm()
    }

    /// The same content, but with the counter of `other` if that has the same key and a greater
    /// counter.
    func notBehind(_ other: RecordPayload) -> RecordPayload {
        guard case .hotp(let counter, let key, let parameters) = self,
            case .hotp(let reached, let otherKey, _) = other, key == otherKey
        else { return self }
        return .hotp(counter: max(counter, reached), key: key, parameters: parameters)
    }
}

extension Tombstone: Comparable {
    /// Whether `first` was made earlier; equal times are ordered by the reason.
    public static func < (first: Tombstone, second: Tombstone) -> Bool {
        (first.time, first.reason.rawValue) < (second.time, second.reason.rawValue)
    }
}

extension AccessControl {
    /// For each setting, the stricter of the two values.
    ///
    /// If the two require different kinds of check, the result requires the kind of this one.
    func stricter(than other: AccessControl) -> AccessControl {
        AccessControl(
            presence: presence.stricter(than: other.presence),
            onFailure: onFailure.stricter(than: other.onFailure),
            reuse: stricterReuse(than: other))
    }

    /// The shorter reuse time; a time counts only if its setting requires a check at each use.
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

extension VaultState.Record {
    /// Whether both have the same key; the parameters and the counter may differ.
    func hasKey(of other: VaultState.Record) -> Bool {
        listed.fingerprint != nil && listed.fingerprint == other.listed.fingerprint
    }
}
