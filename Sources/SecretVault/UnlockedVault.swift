internal import POSIX
internal import Presence

/// A vault that is open: its list is known, its secrets are still sealed one by one.
///
/// It is what the file was when it was read last; ``update(_:)`` reads it again before it changes
/// anything, so that two programs lose nothing of each other's. It belongs to one task.
public final class UnlockedVault {
    let location: VaultLocation
    private(set) var key: VaultKey
    /// Whether the vault can't be written: nothing is saved, and nothing is counted.
    let isReadOnly: Bool
    /// The number of the slot that opened the vault.
    public let openedSlot: Int
    /// What unlocking was allowed to cost.
    let ceiling: Int
    private(set) var state: VaultState
    private var markReport: VaultReport?
    private var notMarked: VaultReport?
    private var notListed: VaultReport?
    private let foundReports: [VaultReport]
    /// The entries whose one use by the presence of unlocking is spent.
    var usedOnce: Set<RecordID> = []
    /// What the last proof for each entry was made for, until it is spent.
    var purposes: [RecordID: PresencePurpose] = [:]

    init(
        location: VaultLocation, key: VaultKey, slot: Int, ceiling: Int, readOnly: Bool,
        state: VaultState, markReport: VaultReport?, reports: [VaultReport]
    ) {
        foundReports = reports
        isReadOnly = readOnly
        self.location = location
        openedSlot = slot
        self.key = key
        self.ceiling = ceiling
        self.state = state
        self.markReport = markReport
    }

    /// How often the vault was saved.
    public var generation: UInt64 { state.generation }

    /// What the list shows, in the order in which the entries were added.
    public var entries: [EntrySummary] { state.records.map(\.summary) }

    /// The ways to open the vault.
    public var slots: [SlotSummary] { state.slots.map { SlotSummary($0.slot) } }

    /// What trying a passphrase on all slots costs: the base-two logarithm of the sum of scrypt's Ns.
    public var unlockCost: Int { UnlockPlan.logarithm(ofAll: state.slots.map(\.slot)) }

    /// What the owner should be told.
    public var reports: [VaultReport] {
        var reports = foundReports
        if let markReport { reports.append(markReport) }
        for record in state.records {
            guard case .tombstone(let tombstone) = record.body else { continue }
            reports.append(.wiped(record.line.id, tombstone))
        }
        for report in [notMarked, notListed] { if let report { reports.append(report) } }
        return reports
    }

    /// Changes the vault: reads it again if somebody else saved meanwhile, lets `change` do what it
    /// wants, and saves once.
    ///
    /// Nothing is saved when `change` throws or changes nothing. When this returns, the change is on the
    /// disk.
    ///
    /// - Throws: what `change` throws; ``VaultError/openedReadOnly``; ``VaultError/busy`` when another
    ///   writer does not get done; ``VaultError/changedMeanwhile`` when a program that heeds no lock has
    ///   replaced the vault since it was read; ``VaultError/inTheWay(name:)``; ``VaultError/notConfirmed(_:)`` when the change is saved, but
    ///   perhaps not for good; ``VaultError/previousNotErased(_:)`` when the change is saved,
    ///   but what was to be purged is still there; ``VaultError/rekeyed`` when somebody else gave the
    ///   vault another key, which takes another unlocking.
    @discardableResult public func update<Result>(
        _ change: (inout VaultChanges) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard !isReadOnly else { throw .openedReadOnly }
        let writer = try VaultWriter(location)
        let read = try writer.read()
        let current = try verified(VaultDocument(parsing: read))
        let mark = writer.mark()
        var changes = try VaultChanges(current, key: key, after: mark)
        let result = try change(&changes)
        guard changes.isChanged else {
            state = current
            return result
        }
        let bytes = try changes.state.written(with: changes.key)
        // What is about to replace the vault is read as the next unlocking will read it.
        let document = try VaultDocument(parsing: bytes)
        let saved = try VaultState(verifying: document, with: changes.key)
        try writer.save(
            bytes, of: saved.vaultID, replacing: read, purging: changes.erasesPrevious)
        (key, state) = (changes.key, saved)
        (markReport, notListed) = (nil, nil)
        notMarked = writer.writeMark(of: document)
        if changes.erasesPrevious { try erasePrevious(by: writer) }
        return result
    }

    /// Reads the vault again if somebody else changed it.
    func readAgain() throws(VaultError) {
        state = try verified(VaultDocument(parsing: location.read()))
    }

    /// Has the list of the entries learn of what was wiped without the vault key.
    ///
    /// Should this fail, the next saving with the key does it.
    func listTombstones() {
        guard state.hasUnlistedTombstones, !isReadOnly, !location.isKept else { return }
        // This saving is not the owner's: what is to be reported of the file that was there stays.
        let found = markReport
        defer { markReport = found }
        do throws(VaultError) {
            try update { changes throws(VaultError) in changes.saveInAnyCase() }
        } catch {
            notListed = .wipesNotListed(error)
        }
    }

    private func verified(_ document: VaultDocument) throws(VaultError) -> VaultState {
        do throws(VaultError) {
            return try VaultState(verifying: document, with: key)
        } catch .damaged(.header) where state.isRekeyed(in: document) {
            throw .rekeyed
        }
    }

    /// Does what ``update(_:)`` would do with `change`, and saves nothing of it.
    public func rehearse<Result>(
        _ change: (inout VaultChanges) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        var changes = try VaultChanges(state, key: key, after: nil)
        return try change(&changes)
    }

    // The vault is saved by now: what goes wrong here must not read as if nothing were.
    private func erasePrevious(by writer: borrowing VaultWriter) throws(VaultError) {
        do {
            try writer.eraseAllButCurrent(of: state.vaultID)
        } catch .system(let failure) {
            throw .previousNotErased(failure)
        }
    }
}

extension UnlockedVault {
    /// Opens every record and looks at what stands beside the vault.
    public func check() throws(VaultError) -> VaultCheck {
        var damages: [VaultPart] = []
        var opened = 0
        for record in state.records {
            guard case .sealed = record.body else { continue }
            do {
                _ = try record.content(with: key)
                opened += 1
            } catch .damaged(let part) {
                damages.append(part)
            }
        }
        return VaultCheck(
            opened: opened, damages: damages, reports: reports,
            hasRecoveryKey: slots.contains { $0.method == .recoveryKey }, previous: previous())
    }

    private func previous() -> PreviousGeneration {
        do {
            guard let own = try location.openOwn() else { return .none }
            let bytes = try VaultLocation.read(VaultLocation.previous, in: own)
            let state = try VaultState(verifying: VaultDocument(parsing: bytes), with: key)
            return .whole(generation: state.generation)
        } catch .notFound {
            return .none
        } catch {
            return .unusable(error)
        }
    }
}

extension VaultState.Record {
    var summary: EntrySummary {
        let tombstone: Tombstone? =
            switch body {
            case .sealed: nil
            case .tombstone(let tombstone): tombstone
            }
        return EntrySummary(
            id: line.id, kind: listed.traits.kind, issuer: listed.issuer, account: listed.account,
            algorithm: listed.traits.algorithm, style: listed.traits.style,
            timeStep: listed.traits.timeStep, created: listed.created,
            accessControl: line.accessControl, tombstone: tombstone)
    }
}
