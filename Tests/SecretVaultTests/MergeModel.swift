import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// A model of a vault in memory that receives random changes.
struct MergeModel {
    private(set) var state: VaultState
    private(set) var key: VaultKey
    /// The keys and secrets that were replaced by others.
    private(set) var replaced: Set<[UInt8]> = []
    private var generator: SeededGenerator
    private var time: Int64

    static let now: Int64 = 10_000

    /// - Parameter device: the key of the device to which entries are bound; `nil` if no entry is
    ///   bound.
    init(seed: UInt64, device: DeviceKey? = nil) throws {
        generator = SeededGenerator(seed: seed)
        time = 1000
        key = .make()
        state = VaultState(new: key.vaultID, slots: [])
        if let device { try key.devices.attach(device) }
    }

    /// A copy that is changed independently.
    mutating func forked() -> MergeModel {
        var copy = self
        copy.generator = SeededGenerator(seed: generator.next())
        return copy
    }

    /// The same copy on a device without a key.
    mutating func elsewhere() -> MergeModel { forked().seen(with: DeviceKeyRing()) }

    /// The same copy on the device of `other`.
    func seen(on other: MergeModel) -> MergeModel { seen(with: other.key.devices) }

    private func seen(with devices: DeviceKeyRing) -> MergeModel {
        var copy = self
        copy.key = key.sharing(devices)
        return copy
    }

    /// Compares enrolled secrets of these models by the numbers in them.
    static func order(_ first: SecretBytes, _ second: SecretBytes) -> EnrolledOrder {
        let numbers = [first, second].map { EnrolledState.number(of: $0) }
        if numbers[0] == numbers[1] { return .same }
        return numbers[0] > numbers[1] ? .first : .second
    }

    /// Makes `count` random changes, with one save for each.
    mutating func change(_ count: Int) throws {
        for _ in 0..<count {
            // Most clocks agree to within a few seconds, but some are wrong.
            time += Int64.random(in: 0...3, using: &generator)
            let now = Int.random(in: 0..<20, using: &generator) == 0 ? Self.now + 50 : time
            var changes = try VaultChanges(state, key: key, after: nil)
            try change(&changes, now)
            guard changes.isChanged else { continue }
            (state, key) = (changes.state, changes.key)
        }
    }

    private mutating func change(_ changes: inout VaultChanges, _ now: Int64) throws {
        let text = String(Int.random(in: 0..<1000, using: &generator))
        guard let entry = changes.entries.randomElement(using: &generator),
            Int.random(in: 0..<4, using: &generator) > 0
        else {
            try changes.add(try content(text), now: now)
            return
        }
        let isWiped = entry.tombstone != nil
        let homes = key.devices.homes
        // Entries bound to another device only get a new name or details, or are removed.
        let isClosed = entry.binding.map { !homes.contains($0.device) } ?? false
        let isFixed = isWiped || isClosed
        switch Int.random(in: 0..<12, using: &generator) {
        case 0, 1: try changes.rename(entry.id, issuer: text, account: "", now: now)
        case 7: try changes.setDetails(of: entry.id, to: EntryDetails(note: text), now: now)
        case 2, 3: try changes.remove(entry.id, purge: false)
        case 4 where !isWiped: try changes.wipe(entry.id, because: .failures, now: now)
        case 5 where !isFixed:
            let checks: [AccessControl.Presence] = [
                .perUnlock, .perUse(.any), .perUse(.passphrase), .perUse(.pam),
            ]
            let check = checks[Int.random(in: 0..<checks.count, using: &generator)]
            try changes.setAccessControl(
                of: entry.id, to: AccessControl(presence: check, onFailure: .lockOut), now: now)
        case 6 where !isFixed && entry.kind == .hotp:
            _ = try changes.advanceCounter(of: entry.id)
        case 8 where !isFixed && entry.kind == .enrolled:
            guard
                case .enrolledSecret(let issuer, let account, let value) = try changes.content(
                    of: entry.id)
            else { return }
            let next = MergeModel.form(EnrolledState.number(of: value) + 1)
            try changes.advance(
                entry.id, to: .enrolledSecret(issuer: issuer, account: account, value: next))
        case 9 where Int.random(in: 0..<4, using: &generator) == 0: try changes.rekey()
        case 10...11 where !isFixed && !homes.isEmpty:
            if entry.binding == nil, let home = homes.first {
                try changes.bind(entry.id, to: home, now: now)
            } else {
                try changes.unbind(entry.id, now: now)
            }
        case _ where !isFixed && entry.kind != .enrolled:
            replaced.insert(try changes.content(of: entry.id).payload.identity.copied)
            try changes.replace(entry.id, with: try content(text, entry.kind), now: now)
        default: break
        }
    }

    /// The form of an enrolled secret with this state.
    static func form(_ state: UInt64) -> SecretBytes {
        enrolledForm(generation: state / 2, isPresented: !state.isMultiple(of: 2))
    }

    private mutating func content(_ text: String, _ kind: EntryKind? = nil) throws -> EntryContent {
        let kinds: [EntryKind] = [.totp, .hotp, .secret, .enrolled]
        switch kind ?? kinds[Int.random(in: 0..<kinds.count, using: &generator)] {
        case .totp:
            return .oneTimePassword(
                try Credential(issuer: text, account: "t", key: secret("key of \(text)")))
        case .hotp:
            return .oneTimePassword(
                try Credential(
                    issuer: text, account: "h", key: secret("key of \(text)"), algorithm: .sha1,
                    style: .decimal(.six), movingFactor: .counter(1)))
        case .enrolled: return .enrolledSecret(issuer: text, account: "e", value: Self.form(2))
        default: return .plainSecret(issuer: text, account: "s", value: secret(text))
        }
    }

    /// Merges another copy into this one.
    ///
    /// - Returns: whether anything was saved.
    @discardableResult mutating func merge(_ other: MergeModel) throws -> Bool {
        var changes = try VaultChanges(
            state, key: key, after: nil, joining: other.state.history)
        let merged = try changes.merge(
            opened(other), comparing: MergeModel.order, now: Self.now)
        guard changes.isChanged else {
            #expect(merged.isEmpty)
            return false
        }
        state = changes.state
        replaced.formUnion(other.replaced)
        return true
    }

    /// Another copy, as this device opens it.
    private func opened(_ other: MergeModel) -> VaultCopy {
        VaultCopy(state: other.state, key: other.key.sharing(key.devices))
    }

    /// The changes of a merge with another copy, with the lists of entries that it does not merge.
    func attempted(_ other: MergeModel) throws -> VaultChanges {
        var changes = try VaultChanges(
            state, key: key, after: nil, joining: other.state.history)
        _ = try changes.merge(
            opened(other), comparing: MergeModel.order, now: Self.now)
        return changes
    }

    /// The entries of another copy that are not merged.
    func unmerged(_ other: MergeModel) throws -> [EntrySummary] { try attempted(other).unmerged }

    func merged(_ other: MergeModel) throws -> MergeModel {
        var merged = self
        try merged.merge(other)
        return merged
    }

    /// The entries, opened, by ID.
    func entries() throws -> [RecordID: MergedEntry] {
        var entries: [RecordID: MergedEntry] = [:]
        for record in state.records {
            entries[record.line.id] = try MergedEntry(record, with: key)
        }
        return entries
    }

    /// All contents that the owner can see or use, sorted.
    func contents() throws -> [String] {
        try entries().values.map { entry in
            let properties = entry.properties
            return [
                entry.id.text, properties.issuer, properties.account, "\(properties.traits)",
                properties.details.note, "\(entry.access)", "\(entry.isWiped)",
                entry.device?.text ?? "",
                "\(try entry.payload?.sealedForm().copied ?? [])",
            ].joined(separator: " | ")
        }.sorted()
    }
}
