package import OneTimePassword
package import SecretVault
package import WatchwordCryptography

/// Changes to an entry; parts that are not mentioned stay the same.
package struct EntryRevision: Sendable {
    package let id: RecordID
    /// The entry's kind when the changes were requested; changes to its content depend on it.
    package let kind: EntryKind
    package var issuer: String?
    package var account: String?
    package var details = DetailsChange()
    package var codes = CodeChange()
    package var access = AccessControlChange()
    package var binding: BindingChange?
    /// Whether the currently enrolled fingers are required from now on; `nil` changes nothing.
    package var fingers: Bool?

    /// Whether the changes require the same presence check as using the entry: they replace its
    /// content, may weaken its access control, or change the name that the next check will show.
    package var requiresCheck: Bool {
        needsSecret || issuer != nil || account != nil || fingers != nil
    }

    /// Whether the changes alter the codes that the entry's key produces: a different period or
    /// counter would reveal future codes now.
    package var changesCodesOfKey: Bool { !codes.isEmpty && codes.secret == nil }

    /// Whether the changes are impossible after the secret was wiped.
    var needsSecret: Bool { !codes.isEmpty || !access.isEmpty || binding != nil }
}

/// A change of the device to which an entry is bound.
package enum BindingChange: Sendable {
    /// Binds the entry: it opens only on this device.
    case bind(BindingChoice)
    /// Ends the binding: the entry opens on every device.
    case unbind

    var choice: BindingChoice? { if case .bind(let choice) = self { choice } else { nil } }
}

/// The warnings for the user after a revision.
package struct RevisionWarnings: Hashable, Sendable {
    /// Whether the new counter is lower, so that codes will repeat.
    package let movesBack: Bool
    /// The properties of the new credential that the standards do not allow.
    package let credential: [CredentialWarning]

    package init(movesBack: Bool = false, credential: [CredentialWarning] = []) {
        self.movesBack = movesBack
        self.credential = credential
    }
}

extension EntryRevision {
    /// A revision without changes.
    ///
    /// - Parameter entry: the entry as it is when the changes are requested.
    package init(of entry: EntrySummary) { self.init(id: entry.id, kind: entry.kind) }

    /// Applies the changes to the entry's current state, which another program may have changed.
    func apply(
        to changes: inout VaultChanges, confirmedBy confirmations: Confirmations, now: Int64,
        bindingTo device: DeviceID?
    ) throws(VaultError) -> EditOutcome {
        let entry = try changes.entry(id)
        guard entry.tombstone == nil || !needsSecret else { throw .wiped }
        guard !requiresCheck || confirmations.cover(entry) else { throw .presenceNeeded }
        let name = EntryName(
            issuer: issuer ?? entry.issuer, account: account ?? entry.account)
        guard !EntryName.isBlank(name.text) else { return .refused(.emptyName) }
        let isRenamed = (entry.issuer, entry.account) != (name.issuer, name.account)
        guard !isRenamed || !changes.isTaken(name, exceptBy: id) else {
            return .refused(.nameTaken(name))
        }
        let (newDetails, missing) = details.applied(to: entry.details)
        if let tag = missing.first { return .refused(.noSuchTag(entry.name, tag: tag)) }
        var contents: (old: EntryContent, new: EntryContent)?
        if !codes.isEmpty {
            guard entry.kind == kind else { throw .otherKind }
            let old = try changes.content(of: id)
            let new: EntryContent
            do throws(OneTimePasswordError) { new = try codes.applied(to: old) } catch {
                return .refused(EditRefusal(error))
            }
            // Only an explicitly set counter may be lower; entering the same key again keeps the
            // counter.
            let kept = codes.counter == nil ? try changes.content(new, notBehind: id) : new
            try changes.replace(id, with: kept, now: now)
            contents = (old, kept)
        }
        if isRenamed {
            try changes.rename(id, issuer: name.issuer, account: name.account, now: now)
        }
        if newDetails != entry.details { try changes.setDetails(of: id, to: newDetails, now: now) }
        let control = access.applied(to: entry.accessControl)
        if control != entry.accessControl {
            try changes.setAccessControl(of: id, to: control, now: now)
        }
        // Bind the entry even if it is already bound to the device, because this erases the
        // previous generation.
        if let device { try changes.bind(id, to: device, now: now) }
        if case .unbind? = binding, entry.binding != nil { try changes.unbind(id, now: now) }
        let warnings = contents.map { codes.warnings(of: $0.old, $0.new) }
        return .revised(
            name, warnings ?? RevisionWarnings(),
            bound: device == nil ? nil : try changes.entry(id).binding?.binding)
    }
}

/// Changes of an entry's tags, note, icon and favourite mark.
package struct DetailsChange: Hashable, Sendable {
    package let added: [String]
    package let removed: [String]
    /// The new note; `nil` keeps the note.
    package let note: String?
    /// The new name of the icon; `nil` keeps the name.
    package let icon: String?
    /// Whether the entry becomes a favourite; `nil` keeps the mark.
    package let isFavourite: Bool?

    package init(
        added: [String] = [], removed: [String] = [], note: String? = nil, icon: String? = nil,
        isFavourite: Bool? = nil
    ) {
        self.added = added
        self.removed = removed
        self.note = note
        self.icon = icon
        self.isFavourite = isFavourite
    }

    /// `details` with the changes, and those tags to remove that it does not contain.
    ///
    /// A tag to remove may differ in case.
    package func applied(
        to details: EntryDetails
    ) -> (details: EntryDetails, missingTags: [String]) {
        var details = details
        var missing: [String] = []
        for tag in removed {
            let place =
                details.tags.firstIndex(of: tag)
                ?? details.tags.firstIndex { $0.lowercased() == tag.lowercased() }
            if let place { details.tags.remove(at: place) } else { missing.append(tag) }
        }
        for tag in added where !details.tags.contains(tag) { details.tags.append(tag) }
        if let note { details.note = note }
        if let icon { details.icon = icon }
        if let isFavourite { details.isFavourite = isFavourite }
        return (details, missing)
    }
}

/// Changes to an entry's codes and secret; `nil` leaves a value unchanged.
package struct CodeChange: Sendable {
    package let algorithm: HashAlgorithm?
    package let length: CodeLength?
    package let period: Int64?
    package let counter: UInt64?
    package var secret: SecretBytes?

    package init(
        algorithm: HashAlgorithm? = nil, length: CodeLength? = nil, period: Int64? = nil,
        counter: UInt64? = nil, secret: SecretBytes? = nil
    ) {
        self.algorithm = algorithm
        self.length = length
        self.period = period
        self.counter = counter
        self.secret = secret
    }

    var isEmpty: Bool {
        algorithm == nil && length == nil && period == nil && counter == nil && secret == nil
    }

    func applied(to content: EntryContent) throws(OneTimePasswordError) -> EntryContent {
        switch content {
        case .oneTimePassword(let old): return .oneTimePassword(try applied(to: old))
        case .plainSecret(let issuer, let account, let value):
            return .plainSecret(issuer: issuer, account: account, value: secret ?? value)
        case .enrolledSecret, .uncomputed: return content
        }
    }

    private func applied(to old: Credential) throws(OneTimePasswordError) -> Credential {
        let factor: MovingFactor
        switch old.movingFactor {
        case .time(let step):
            guard let changed = TimeStep(period: period ?? step.period, start: step.start) else {
                throw .outOfRange(.period)
            }
            factor = .time(changed)
        // A new key starts at counter 0.
        case .counter(let reached): factor = .counter(counter ?? (secret == nil ? reached : 0))
        }
        return try Credential(
            issuer: old.issuer, account: old.account, key: secret ?? old.key,
            algorithm: algorithm ?? old.algorithm,
            style: length.map(CodeStyle.decimal) ?? old.style, movingFactor: factor,
            otherParameters: old.otherParameters)
    }

    /// The warnings about deviations from the standards and about codes that will repeat.
    func warnings(of old: EntryContent, _ new: EntryContent) -> RevisionWarnings {
        guard case .oneTimePassword(let old) = old, case .oneTimePassword(let new) = new else {
            return RevisionWarnings()
        }
        var movesBack = false
        if secret == nil, case .counter(let reached) = old.movingFactor,
            case .counter(let next) = new.movingFactor
        {
            movesBack = next < reached
        }
        return RevisionWarnings(movesBack: movesBack, credential: new.warnings)
    }
}
