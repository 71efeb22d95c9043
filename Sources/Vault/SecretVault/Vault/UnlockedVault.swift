internal import Devices
internal import WatchwordSystem

/// An open vault: its list of entries is decrypted, and each secret is still sealed.
///
/// The object reflects the file as of the last read. ``update(_:)`` reads the file again before it
/// changes anything, so that two programs do not lose each other's changes. The object belongs to
/// one task.
public final class UnlockedVault {
    let location: VaultLocation
    private(set) var key: VaultKey
    /// Whether the vault cannot be written: if so, nothing is saved or counted.
    let isReadOnly: Bool
    /// The number of the slot that opened the vault.
    public let openedSlot: Int
    /// The base-2 logarithm of the maximum sum of scrypt's N over the slots that are tried.
    let ceiling: Int
    private(set) var state: VaultState
    private(set) var generationReport: VaultReport?
    private var notMarked: VaultReport?
    private var notListed: VaultReport?
    /// Reports about older files that could not be erased.
    private var linked: [VaultReport] = []
    /// Reports about copies beside the vault that the last save did not erase.
    private var copies: [VaultReport] = []
    let foundReports: [VaultReport]
    /// Whether the reports contain those of the `linked` file.
    private var reportsLinked: Bool {
        foundReports.contains {
            if case .keptUnderSecondName = $0 { true } else { false }
        }
    }
    /// Whether the failures must be cleared once the wipes that they caused are listed.
    var clearsFailures = false
    /// Whether the vault may be changed now; checked while no other process can change it.
    package var mayChange: () -> Bool = { true }
    /// The size of the largest file that is read again.
    package var largestFile = Int.max
    /// The entries that have already been opened with the presence check made at unlocking.
    var usedOnce: Set<RecordID> = []
    /// The purpose of each entry's last proof, until the proof is spent.
    var purposes: [RecordID: PresencePurpose] = [:]

    init(
        _ slot: OpenedSlot, at location: VaultLocation, ceiling: Int, isReadOnly: Bool,
        reports: FoundReports
    ) {
        self.location = location
        self.isReadOnly = isReadOnly
        self.ceiling = ceiling
        (openedSlot, key, state) = (slot.number, slot.key, slot.state)
        (generationReport, foundReports) = (reports.generation, reports.others)
    }

    /// The entries whose wipe this vault was the first to list; later readers report the wipe, too,
    /// but do not need to notify the owner.
    package private(set) var noticedWipes: Set<RecordID> = []

    /// The number of the vault's current generation.
    public var generation: UInt64 { state.generation }

    /// The entries, in the order in which they were added.
    public var entries: [EntrySummary] {
        let (wiped, homes) = (provedWipes, key.devices.homes)
        return state.records.map { $0.summary(proving: wiped, at: homes) }
    }

    /// The slots, each of which is one way to open the vault.
    public var slots: [SlotSummary] { state.slots.map { SlotSummary($0.slot) } }

    /// The cost of trying a passphrase on all slots: the base-2 logarithm of the sum of scrypt's N.
    public var unlockCost: Int { UnlockPlan.logarithm(ofAll: state.slots.map(\.slot)) }

    /// The warnings to show to the owner.
    public var reports: [VaultReport] {
        var reports = foundReports.filter { !$0.namesMissingCopy }
        if let generationReport { reports.append(generationReport) }
        let wiped = provedWipes
        for record in state.records {
            guard case .tombstone(let tombstone) = record.body else { continue }
            let id = record.line.id
            let isProved = !record.isWipedWithoutKey || wiped.contains(id)
            reports.append(isProved ? .wiped(id, tombstone) : .vanished(id))
        }
        if let notListed { reports.append(notListed) }
        return reports + saveReports
    }

    /// The records that were wiped without the vault key, and whose wipe is proved by the counted
    /// failures.
    private var provedWipes: Set<RecordID> {
        // If the failures cannot be read, no wipe is proved.
        ifPossible(try genuineWipes(in: state)) ?? []
    }

    /// The entry with this ID.
    ///
    /// - Throws: ``VaultError/noSuchEntry``.
    package func entry(_ id: RecordID) throws(VaultError) -> EntrySummary {
        state.records[try state.index(of: id)].summary(
            proving: provedWipes, at: key.devices.homes)
    }

    /// The warnings about the saves made so far.
    public var saveReports: [VaultReport] {
        linked + copies + [notMarked].compactMap { $0 }
    }

    /// Changes the vault: reads it again, applies `change`, and saves once.
    ///
    /// Nothing is saved if `change` throws or changes nothing. When this returns, the change is on
    /// disk.
    ///
    /// - Throws: the errors of `change`; ``VaultError/openedReadOnly``; ``VaultError/busy`` if
    ///   another writer does not finish in time; ``VaultError/changedMeanwhile`` if a program that
    ///   ignores the lock has replaced the vault since it was read; ``VaultError/inTheWay(name:)``;
    ///   ``VaultError/notConfirmed(_:)`` if the change is saved, but a power failure may undo it;
    ///   ``VaultError/previousNotErased(_:)`` if the change is saved, but the previous generation
    ///   was not purged; ``VaultError/rekeyed`` if another process gave the vault a new key, so
    ///   that it must be unlocked again.
    @discardableResult public func update<Result>(
        _ change: (inout VaultChanges) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try save(joining: nil, change)
    }

    /// Changes the vault like ``update(_:)``.
    ///
    /// - Parameter other: the history of another file that this save merges.
    @discardableResult func save<Result>(
        joining other: VaultHistory?, _ change: (inout VaultChanges) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard !isReadOnly else { throw .openedReadOnly }
        var writer = try VaultWriter(location)
        guard mayChange() else { throw .busy }
        let read = try writer.read(upTo: largestFile)
        let old = try VaultDocument(parsing: read)
        let mark = writer.mark(of: old.vaultID)
        guard let current = try later(old, mark)?.state else { throw .changedMeanwhile }
        let wiped = try genuineWipes(in: current)
        let previous = try writer.previous(with: key)
        func isUnmerged(_ state: VaultState) throws(VaultError) -> Bool {
            try previous?.isIncluded(in: state, with: key, after: mark) == false
        }
        let keepsPrevious = try isUnmerged(current)
        var changes = try VaultChanges(
            current, key: key, after: mark, joining: other, listing: wiped)
        changes.provesPresence = unlockingProvesPresence
        changes.keepsPrevious = keepsPrevious
        let result = try change(&changes)
        guard changes.isChanged else {
            state = current
            return result
        }
        // The previous generation may be the only file that still has the secret of an entry that
        // has vanished, or the changes that an older or a diverged file lacks.
        let isLost = current.hasVanished(besides: wiped)
        let isNeeded = try isUnmerged(changes.state) || changes.state.hasUnlistedTombstones
        guard !isNeeded || !changes.erasesPrevious else { throw .vanishedEntries }
        let (document, saved) = try changes.state.verifiedFile(with: changes.key)
        let record = try GenerationRecord(
            of: document, saving: saved, with: changes.key, after: mark)
        let gone = wiped.union(changes.wiped)
        if !gone.isEmpty, !changes.erasesPrevious {
            let tombstone = Tombstone(time: SystemClock.unixTime(), reason: .failures)
            let (opened, asked) = (key, changes.wiped)
            let older = OlderFileWipe(attempts: try attempts()) {
                current.isLater(than: $0, with: opened) ? gone : asked
            }
            try writer.wipePrevious(older, of: saved.vaultID, leaving: tombstone)
        }
        let discards = isNeeded || isLost || !changes.wiped.isEmpty
        try writer.save(
            document.bytes, of: saved.vaultID, replacing: read,
            previous: changes.erasesPrevious ? .purged : discards ? .discarded : .kept)
        (key, state) = (changes.key, saved)
        (generationReport, notListed) = (nil, nil)
        notMarked = writer.write(record)
        let used = SlotsRecord.read(of: location, vaultID: saved.vaultID) ?? old.slotsDigest
        if used != document.slotsDigest { writer.recordSlots(of: document) }
        defer { linked += writer.linked.map { VaultReport($0) } }
        copies =
            changes.erasesPrevious || !gone.isEmpty
            ? location.copiesNotErased(of: saved.vaultID, in: writer.folder) : []
        if changes.erasesPrevious || discards {
            try eraseOlder(by: &writer, keepingPrevious: !changes.erasesPrevious)
        }
        if reportsLinked { writer.removeLinkedRecord() }
        return result
    }

    func reload() throws(VaultError) {
        let mark = try GenerationRecord.read(of: location, vaultID: state.vaultID)
        let document = try VaultDocument(parsing: location.read(upTo: largestFile))
        guard let read = try later(document, mark) else { throw .changedMeanwhile }
        state = read.state
    }

    /// The state in a file that was read again, and the warning about it; `nil` if the file lacks
    /// the state held here or the last save made here.
    ///
    /// In that case, nothing may be saved on top of the file.
    ///
    /// A file with the same warning as at opening may be used.
    ///
    /// - Parameter mark: the generation record, read before the file.
    private func later(
        _ document: VaultDocument, _ mark: GenerationRecord?
    ) throws(VaultError) -> (state: VaultState, report: VaultReport?)? {
        let read = try verified(document)
        let report = mark?.report(on: document, with: read.history)
        guard report == nil || report == generationReport,
            (read.generation, read.changes) >= (state.generation, state.changes),
            !read.history.lacks(state.history.newest)
        else { return nil }
        return (read, report)
    }

    /// Reads the file again after another process has changed it.
    ///
    /// - Returns: whether the file contains the state held here and the last save made here. If
    ///   not, this object does not change.
    /// - Throws: ``VaultError/replaced`` or ``VaultError/rekeyed`` if this key no longer opens it.
    package func refresh() throws(VaultError) -> Bool {
        // Read the generation record first, as ``Vault/unlock(at:with:ceiling:mode:reading:)``
        // does.
        let mark = try GenerationRecord.read(of: location, vaultID: state.vaultID)
        let document = try VaultDocument(parsing: location.read(upTo: largestFile))
        guard document.vaultID == state.vaultID else { throw .replaced }
        guard let (read, report) = try later(document, mark) else { return false }
        (state, generationReport) = (read, report)
        if !isReadOnly {
            location.record(
                opened: document, read, with: key,
                after: SeenGenerations(own: mark, former: nil))
        }
        listTombstones()
        return true
    }

    /// Saves the vault if entries were wiped without the vault key because of failures, so that the
    /// manifest records their tombstones.
    ///
    /// If the save fails, the next save with the key records them.
    func listTombstones() {
        guard state.hasUnlistedTombstones, !isReadOnly, !location.isKept else { return }
        // The owner did not ask for this save, so keep the current report about the file.
        let found = generationReport
        defer { generationReport = found }
        do throws(VaultError) {
            let wiped = try genuineWipes(in: state)
            guard !wiped.isEmpty else { return }
            try update { changes throws(VaultError) in changes.saveInAnyCase() }
            noticedWipes.formUnion(wiped)
        } catch {
            notListed = .wipesNotListed(error)
            return
        }
        // If clearing the failures fails, the next attempt clears them.
        _ = ifPossible(try clearFailures())
    }

    private func clearFailures() throws(VaultError) {
        let counter = try AttemptCounter(location, of: state.vaultID)
        let counted = try counter.read().pruned(to: state.countedLines, of: state.generation)
        try counter.save(
            clearsFailures ? try counter.afterSuccess(counted, by: state.slotsDigest()) : counted)
        clearsFailures = false
    }

    /// The records that were wiped without the vault key and whose failures have reached their
    /// limit.
    ///
    /// Anyone who can write the file can write a tombstone. A tombstone without such failures
    /// proves nothing. Neither does a tombstone in an older file that was restored: the entry's
    /// access control may have changed since.
    private func genuineWipes(in state: VaultState) throws(VaultError) -> Set<RecordID> {
        guard state.hasUnlistedTombstones,
            try GenerationRecord.read(of: location, vaultID: state.vaultID)?
                .isNewer(than: state.generation, of: state.vaultID) != true
        else { return [] }
        let lines = state.records.compactMap { record in
            guard record.isWipedWithoutKey, case .tombstone(let tombstone) = record.body,
                tombstone.reason == .failures
            else { return nil as RecordLine? }
            return record.line
        }
        return try attempts().due(in: lines, by: state.slotsDigest())
    }

    private func verified(_ document: VaultDocument) throws(VaultError) -> VaultState {
        guard let verified = try state.verified(document, with: key) else { throw .rekeyed }
        return verified
    }

    /// Applies `change` like ``update(_:)``, but saves nothing.
    public func rehearse<Result>(
        _ change: (inout VaultChanges) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try rehearse(joining: nil, change)
    }

    func rehearse<Result>(
        joining other: VaultHistory?, _ change: (inout VaultChanges) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        var changes = try VaultChanges(
            state, key: key, after: nil, joining: other, listing: genuineWipes(in: state))
        changes.provesPresence = unlockingProvesPresence
        return try change(&changes)
    }

    private func eraseOlder(
        by writer: inout VaultWriter, keepingPrevious: Bool
    ) throws(VaultError) {
        if keepingPrevious {
            try VaultError.erasingOlder(writer.eraseLeftovers(of: state.vaultID))
        } else {
            try VaultError.erasingOlder(writer.eraseAllButCurrent(of: state.vaultID))
        }
    }
}

extension UnlockedVault {
    /// Opens every record and examines the previous generation.
    public func check() throws(VaultError) -> VaultCheck {
        var damages: [VaultPart] = []
        var reports = reports
        var (opened, closed) = (0, 0)
        for record in state.records {
            guard record.isSealed else { continue }
            switch Result(catching: { () throws(VaultError) in try record.content(with: key) }) {
            case .success: opened += 1
            case .failure(.damaged(let part)): damages.append(part)
            case .failure(.boundElsewhere): closed += 1
            case .failure(.deviceKey(let problem)):
                reports.append(.deviceKeyUnusable(record.line.id, problem))
            case .failure(let error): throw error
            }
        }
        return VaultCheck(
            opened: opened, closed: closed, damages: damages, reports: reports,
            hasRecoveryKey: slots.contains { $0.method == .recoveryKey }, previous: previous())
    }

    private func previous() -> PreviousGeneration {
        do throws(VaultError) {
            guard let bytes = try location.previousGeneration(upTo: largestFile) else {
                return .none
            }
            return .whole(generation: try verified(VaultDocument(parsing: bytes)).generation)
        } catch {
            return .unusable(error)
        }
    }
}

extension VaultState.Record {
    var summary: EntrySummary { summary(proving: [], at: []) }

    /// The properties of the entry for display in a list.
    ///
    /// - Parameters:
    ///   - wiped: the records whose wipe without the vault key is proved.
    ///   - homes: the keys that this device has.
    func summary(proving wiped: Set<RecordID>, at homes: Set<DeviceID>) -> EntrySummary {
        let tombstone: Tombstone? =
            switch body {
            case .sealed: nil
            case .tombstone(let tombstone): tombstone
            }
        // Read `body` only once: otherwise, the optimiser of Swift 6.3.1 crashes.
        let binding = tombstone == nil ? listed.binding : nil
        return EntrySummary(
            id: line.id, accessControl: line.accessControl, tombstone: tombstone,
            hasVanished: isWipedWithoutKey && !wiped.contains(line.id),
            binding: binding.map {
                EntryBinding(
                    device: $0.device, binding: $0.binding, name: $0.name, state: $0.state,
                    isHere: homes.contains($0.device))
            },
            properties: listed.properties)
    }
}
