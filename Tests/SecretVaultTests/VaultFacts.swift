import Devices
import OneTimePassword
import TestSupport
import WatchwordCryptography

@testable import SecretVault

/// The full content of a vault, with secrets, in the format of `Scripts/read-vault.py --reveal`.
struct VaultFacts: Codable, Equatable, Sendable {
    struct SlotFacts: Codable, Equatable, Sendable {
        let number: Int
        let created: Int64
        let method: String
        var log_n: Int?
        var pin: Bool?
        var pcr7: Bool?
    }

    struct DeviceFacts: Codable, Equatable, Sendable {
        let id: String
        let binding: String
        let name: String
        let state: UInt64
    }

    struct TombstoneFacts: Codable, Equatable, Sendable {
        let time: Int64
        let reason: String
    }

    struct ParameterFacts: Codable, Equatable, Sendable {
        let name: String
        let value: String
    }

    struct EntryFacts: Codable, Equatable, Sendable {
        let id: String
        let presence: String
        // From format 3 on.
        var reuse: Int?
        let on_failure: String
        let revision: UInt64
        let created: Int64
        let issuer: String
        let account: String
        let kind: String
        var algorithm: String?
        var digits: Int?
        var period: Int64?
        var start: Int64?
        var counter: UInt64?
        var secret: String?
        var parameters: [ParameterFacts]?
        var tombstone: TombstoneFacts?
        var pin: String?
        // From format 2 on.
        var edited: Int64?
        var edited_in: String?
        var tags: [String]?
        var note: String?
        var icon: String?
        var favourite: Bool?
        // Only in format 4.
        var device: DeviceFacts?
    }

    struct SaveFacts: Codable, Equatable, Sendable {
        let generation: UInt64
        let id: String
    }

    struct AttemptsFacts: Codable, Equatable, Sendable {
        let subject: String
        var revision: UInt64?
        let refused: UInt64
        /// The vault's refusals that count towards wipes, by the digest of the slots.
        var refusals: [String: UInt64]?
        let undecided: UInt64
        let wait: UInt64
        let seen: UInt64
        let boot: String
        let uptime: UInt64

        init(
            _ subject: String, _ failures: Failures, revision: UInt64? = nil,
            refusals: [SlotsDigest: UInt64]? = nil
        ) {
            self.subject = subject
            self.revision = revision
            refused = failures.refused
            self.refusals = refusals.map { refusals in
                Dictionary(uniqueKeysWithValues: refusals.map { (Hex.text($0.bytes), $1) })
            }
            undecided = failures.undecided
            wait = failures.wait
            seen = failures.start.wall
            boot = Hex.text(failures.start.boot)
            uptime = failures.start.uptime
        }
    }

    let vault: String
    let generation: UInt64
    let changes: UInt64
    let slots: [SlotFacts]
    let entries: [EntryFacts]
    let attempts: [AttemptsFacts]
    /// The history of the file; `nil` for format 1.
    var history: [SaveFacts]?

    /// - Parameter version: the version of the format; 1 has no history and no details.
    init(
        _ state: VaultState, key: VaultKey, attempts counted: Attempts, version: Int = 2
    ) throws {
        vault = Hex.text(state.vaultID)
        generation = state.generation
        changes = state.changes
        slots = state.slots.map { slot in
            let summary = SlotSummary(slot.slot)
            return switch summary.method {
            case .passphrase(let logN):
                SlotFacts(
                    number: summary.number, created: summary.created, method: "passphrase",
                    log_n: logN)
            case .recoveryKey:
                SlotFacts(number: summary.number, created: summary.created, method: "recovery-key")
            case .tpm2(let object):
                SlotFacts(
                    number: summary.number, created: summary.created, method: "tpm2-sealed",
                    pin: object.requiresPIN, pcr7: object.isBoundToPCR7)
            case .fido2(let credential):
                SlotFacts(
                    number: summary.number, created: summary.created, method: "fido2-hmac-secret",
                    pin: credential.requiresPIN)
            case .other(let word):
                SlotFacts(number: summary.number, created: summary.created, method: word)
            }
        }
        entries = try state.records.map { record in
            var facts = try EntryFacts(record, key: key)
            if version > 1 { facts.add(record.listed.properties) }
            return facts
        }
        if version > 1 {
            history = state.history.saves.map {
                SaveFacts(generation: $0.generation, id: Hex.text($0.id.bytes))
            }
        }
        attempts =
            (counted.vault.map { [AttemptsFacts("vault", $0, refusals: counted.refusals)] } ?? [])
            + counted.records.sorted { $0.key.precedes($1.key) }.map { id, counted in
                AttemptsFacts(id.text, counted.failures, revision: counted.revision)
            }
    }
}

extension SaveID {
    fileprivate var bytes: [UInt8] {
        SecretBytes(capacity: SaveID.count) { write(to: &$0) }.copied
    }
}

extension VaultFacts.EntryFacts {
    fileprivate mutating func add(_ properties: EntryProperties) {
        edited = properties.edited.time
        edited_in = Hex.text(properties.edited.save.bytes)
        tags = properties.details.tags
        note = properties.details.note
        icon = properties.details.icon
        favourite = properties.details.isFavourite
    }

    init(_ record: VaultState.Record, key: VaultKey) throws {
        let summary = record.summary
        id = summary.id.text
        presence = summary.accessControl.presence.word
        if summary.accessControl.reuse != .none { reuse = summary.accessControl.reuse.seconds }
        on_failure =
            switch summary.accessControl.onFailure {
            case .lockOut: "lock-out"
            case .wipe(let count): "wipe:\(count.value)"
            }
        revision = record.line.revision
        created = summary.created
        issuer = summary.issuer
        account = summary.account
        kind = summary.kind.rawValue
        algorithm = summary.algorithm?.rawValue
        period = summary.timeStep?.period
        start = summary.timeStep?.start
        switch summary.style {
        case .steam: digits = 0
        case .decimal(let length): digits = length.digits
        case nil: digits = nil
        }
        device = record.listed.binding.map {
            .init(id: $0.device.text, binding: $0.binding.rawValue, name: $0.name, state: $0.state)
        }
        if let found = summary.tombstone {
            tombstone = .init(time: found.time, reason: found.reason.rawValue)
            return
        }
        if case .closed = try record.opened(with: key) { return }
        let facts = Facts(try record.content(with: key))
        secret = Hex.text(facts.secret)
        pin = facts.pin.map(Hex.text)
        if case .counter(let value) = facts.movingFactor { counter = value }
        if facts.movingFactor != nil {
            parameters = facts.parameters.map { .init(name: $0.name, value: $0.value) }
        }
    }
}
