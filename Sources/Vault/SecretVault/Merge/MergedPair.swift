/// The two copies of one entry, and the result of merging them.
struct MergedPair {
    /// The party that must decide about an entry if one of its copies is closed here.
    enum Left {
        /// The device to which the secret is bound.
        case toHome(theirs: VaultState.Record, closed: VaultState.Record)
        /// The owner, because the copies are bound to two different devices.
        case toOwner(theirs: VaultState.Record)
    }

    private let ours: VaultState.Record?
    private let theirs: VaultState.Record?
    private let key: VaultKey
    private let copy: VaultCopy
    private let generation: UInt64
    private let formerHistory: VaultHistory
    /// The edit that is recorded if the merge itself changes the entry.
    private let edit: EntryEdit

    /// The changes to this entry, as the owner sees them.
    private(set) var merged: [MergeChange] = []
    /// The merged entry; `nil` if it is removed.
    private(set) var result: VaultState.Record?
    /// A second entry with the content of the losing copy, if both copies are kept.
    private(set) var second: VaultState.Record?
    /// Whether our secret is replaced by a tombstone.
    private(set) var wipesOurs = false
    /// Set if our copy stays unchanged until the device or the owner decides.
    private(set) var left: Left?

    init(
        ours: VaultState.Record?, theirs: VaultState.Record?, changes: VaultChanges,
        copy: VaultCopy, now: Int64
    ) {
        self.ours = ours
        self.theirs = theirs
        self.copy = copy
        key = changes.key
        generation = changes.state.generation
        formerHistory = changes.formerHistory
        edit = changes.edit(at: now)
    }

    /// Whether both files contain the same box and the same properties.
    var areIdentical: Bool {
        guard let ours, let theirs, ours.line == theirs.line,
            ours.listed.properties == theirs.listed.properties
        else { return false }
        switch (ours.body, theirs.body) {
        case (.sealed(let box), .sealed(let other)): return box.elementsEqual(other)
        case (.tombstone(let tombstone), .tombstone(let other)): return tombstone == other
        default: return false
        }
    }

    mutating func merge(by histories: MergeHistories, comparing order: EnrolledOrder.Function)
        throws(VaultError)
    {
        let our = try opened(ours, with: key)
        let their: MergedEntry?
        do {
            their = try opened(theirs, with: copy.key)
        } catch .damaged(let part) {
            throw .copyDamaged(part)
        }
        var areEqual = false
        if let our, let their {
            areEqual = try our.parts(differingFrom: their).allSatisfy { $0 == .accessControl }
        }
        var verdict = histories.verdict(
            our?.properties.edited, their?.properties.edited, areEqual: areEqual)
        if let our, let their, our.staysOne(with: their) {
            if case .both(let original) = verdict.result {
                verdict = MergeVerdict(result: .one(original), isIndependent: true)
            }
        } else if case .one(let later) = verdict.result, verdict.isIndependent, let our, let their,
            try our.parts(differingFrom: their).contains(.secret)
        {
            // A key is never dropped, even if it is clear which edit is newer.
            verdict = MergeVerdict(result: .both(original: later), isIndependent: true)
        }
        switch verdict.result {
        case .removed:
            if let our { note(.removed, our, requiresCheck: our.requiresCheck) }
        case .one(.ours):
            guard let our else { return }
            try join(our, with: their, by: verdict, comparing: order)
        case .one(.theirs):
            guard let their else { return }
            guard let our else {
                // The counter may be lower than that of an entry that was removed here.
                note(
                    .added, their, changesCodesOfKey: their.isCounter && !their.requiresCheck)
                result = try their.sealed(like: nil, in: generation, under: key)
                return
            }
            try join(their, with: our, by: verdict, comparing: order)
        case .both(let original):
            guard let our, let their else { return }
            let (winner, loser) = original == .ours ? (our, their) : (their, our)
            try join(winner, with: loser, by: verdict, comparing: order)
            try addSecond(loser, beside: winner, comparing: order)
        }
    }

    private func opened(_ record: VaultState.Record?, with key: VaultKey) throws(VaultError)
        -> MergedEntry?
    {
        guard let record else { return nil }
        return try MergedEntry(record, with: key)
    }

    /// Makes the result from the winning copy, and from the parts of the other copy that must not
    /// be rolled back.
    private mutating func join(
        _ winner: MergedEntry, with loser: MergedEntry?, by verdict: MergeVerdict,
        comparing order: EnrolledOrder.Function
    ) throws(VaultError) {
        guard let our = try opened(ours, with: key) else { return }
        var entry = winner
        var (isForked, isOverruled) = (false, false)
        if let loser {
            let isOurs = verdict.result.kept == .ours
            let their = isOurs ? loser : winner
            if !winner.isWiped, !loser.isWiped, winner.closed != nil || loser.closed != nil {
                // Only the device can change the secrets that it has sealed.
                guard let side = try sealedSide(our, their, by: verdict) else {
                    return leave(winner, loser)
                }
                if (side == .ours) != isOurs { entry.takeSealedPart(of: loser) }
            } else {
                isForked = entry.advance(to: loser, comparing: order)
                entry.wipe(like: loser)
                if verdict.isIndependent {
                    entry.access = entry.access.stricter(than: loser.access)
                    if !entry.isWiped { entry.device = entry.device ?? loser.device }
                }
                isOverruled = try entry.overrules(their, from: our)
            }
            // A result that differs from the winning copy counts as a new edit.
            if try !entry.parts(differingFrom: winner).isEmpty { entry.properties.edited = edit }
        }
        let parts = try entry.parts(differingFrom: our)
        let isReplaced = parts.contains { $0 != .details }
        wipesOurs = entry.isWiped && !our.isWiped
        if case .both = verdict.result {
            needsCheck = isReplaced && our.requiresCheck
        } else if wipesOurs {
            note(.wiped, entry, requiresCheck: our.requiresCheck)
        } else if !parts.isEmpty {
            note(
                .replaced(parts), entry, requiresCheck: isReplaced && our.requiresCheck,
                changesCodesOfKey: parts.contains(.secret) && hasSameKey && !our.requiresCheck)
        } else if let loser, verdict.isIndependent,
            try !loser.parts(differingFrom: winner).isEmpty
        {
            note(.kept, entry)
        }
        if !wipesOurs, !parts.contains(.secret), try entry.isAdvanced(from: our) {
            note(.advanced, entry)
        }
        if isForked { note(.forked, entry) }
        result = try entry.sealed(like: isOverruled ? nil : ours, in: generation, under: key)
    }

    /// Whether replacing our copy, which does not keep the ID, requires a check.
    private var needsCheck = false

    /// Whether the copies have the same key; the parameters may differ.
    private var hasSameKey: Bool {
        guard let ours, let theirs else { return false }
        return ours.hasKey(of: theirs)
    }

    /// Keeps our copy unchanged, and records who must decide.
    private mutating func leave(_ copies: MergedEntry...) {
        guard let ours, let theirs else { return }
        result = ours
        if Set(copies.compactMap(\.device)).count > 1 {
            left = .toOwner(theirs: theirs)
        } else {
            left = .toHome(theirs: theirs, closed: ours.device == nil ? theirs : ours)
        }
    }

    /// The side that provides the secret, access control and device of the result if one copy is
    /// closed here; `nil` if that cannot be decided without the secret.
    private func sealedSide(
        _ our: MergedEntry, _ their: MergedEntry, by verdict: MergeVerdict
    ) throws(VaultError) -> MergeVerdict.Side? {
        // The other file includes this one, so the decision was made there.
        guard !copy.state.history.includes(formerHistory) else { return .theirs }
        let later: MergeVerdict.Side = verdict.result.kept == .ours ? .ours : .theirs
        if try our.hasPayload(of: their) { return later }
        let isDecided =
            !verdict.isIndependent && our.properties.edited != their.properties.edited
        let advanced: MergeVerdict.Side? =
            our.state == their.state ? nil : our.state > their.state ? .ours : .theirs
        let areEnrolled = our.isEnrolled && their.isEnrolled
        let areCounters = our.isCounter && their.isCounter
        let areBothSealed = wasSealed(on: .ours) && wasSealed(on: .theirs)
        // Each of the two secrets may have been presented.
        if areEnrolled, advanced == nil, areBothSealed { return nil }
        let side: MergeVerdict.Side
        if our.device == their.device {
            let isCounted = our.isCounted(like: their)
            if isCounted, let advanced { return advanced }
            let revisions = (our.line.revision, their.line.revision)
            // An edit whose predecessor was seen replaces everything sealed before it, except
            // counters.
            let isForked = areBothSealed && !isCounted && (!isDecided || areCounters)
            guard revisions.0 != revisions.1, !isForked else { return nil }
            side = revisions.0 > revisions.1 ? .ours : .theirs
        } else if isDecided {
            // An explicit binding, the end of a binding, or a move.
            guard !areCounters || advanced != later.other else { return nil }
            side = later
        } else if our.device != nil, their.device != nil {
            // The other device's secret has been used up.
            if areEnrolled, let advanced { return advanced }
            // After a move, the former device is gone.
            let former: MergeVerdict.Side = our.closed == nil ? .theirs : .ours
            let isOpen = our.closed == nil || their.closed == nil
            guard isOpen, !wasSealed(on: former) else { return nil }
            side = former.other
        } else {
            side = our.device == nil ? .theirs : .ours
            let mayReplace = areEnrolled && advanced == side || !wasSealed(on: side.other)
            guard mayReplace else { return nil }
        }
        return areEnrolled && advanced == side.other ? nil : side
    }

    /// Whether this side's copy may have been sealed since the two files diverged.
    private func wasSealed(on side: MergeVerdict.Side) -> Bool {
        var (record, own, other) = (ours, formerHistory, copy.state.history)
        if side == .theirs { (record, own, other) = (theirs, other, own) }
        return record.map { own.mayHaveSealed(in: $0.line.revision, since: other) } ?? false
    }

    private mutating func addSecond(
        _ loser: MergedEntry, beside winner: MergedEntry, comparing order: EnrolledOrder.Function
    ) throws(VaultError) {
        var entry = loser.second(edited: edit)
        _ = entry.advance(to: winner, comparing: order)
        entry.access = entry.access.stricter(than: winner.access)
        entry.device = entry.device ?? winner.device
        second = try entry.sealed(like: nil, in: generation, under: key)
        let names = EntryNames(
            issuer: entry.properties.issuer, account: entry.properties.account)
        let changesCodes = try loser.parts(differingFrom: winner).contains(.secret) && hasSameKey
        let isChecked = try opened(ours, with: key)?.requiresCheck == true
        note(
            .keptBoth(copy: names), winner, requiresCheck: needsCheck,
            changesCodesOfKey: changesCodes && !isChecked)
    }

    private mutating func note(
        _ action: MergeChange.Action, _ entry: MergedEntry, requiresCheck: Bool = false,
        changesCodesOfKey: Bool = false
    ) {
        merged.append(
            MergeChange(
                id: entry.id, issuer: entry.properties.issuer, account: entry.properties.account,
                action: action, requiresCheck: requiresCheck,
                changesCodesOfKey: changesCodesOfKey))
    }
}
