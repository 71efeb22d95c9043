import OneTimePassword
import SecretVault
import TestSupport
import WatchwordCryptography

@testable import VaultService

extension Confirmations {
    /// The entries as they were when presence was checked for each.
    init(_ entries: [EntrySummary] = []) {
        self.init(of: entries.map { ($0.id, $0.accessControl.presence) })
    }
}

/// A vault in a separate folder, with methods that edit its entries.
struct EditedVault {
    private let folder: TemporaryFolder
    let vault: UnlockedVault

    static let passphrase = SecretBytes(text: "correct horse battery staple")
    static let key = SecretBytes(text: "12345678901234567890")

    init() throws {
        folder = try TemporaryFolder()
        try Vault.create(
            at: folder.file("vault"), passphrase: Self.passphrase, cost: .lowest,
            recoveryKey: nil, now: 1)
        vault = try Vault.unlock(
            at: folder.file("vault"), with: .passphrase(Self.passphrase))
    }

    var bytes: [UInt8] { get throws { try folder.bytes(of: "vault") } }

    func perform(
        _ edit: VaultEdit, confirmedBy confirmations: Confirmations = Confirmations()
    ) throws(VaultError) -> EditOutcome {
        try vault.update { changes throws(VaultError) in
            try edit.apply(to: &changes, confirmedBy: confirmations, now: 2)
        }
    }

    /// Adds an entry, and returns it in its listed form.
    @discardableResult func add(
        _ content: EntryContent, tags: [String] = [],
        presence: AccessControl.Presence = .perUnlock
    ) throws -> EntrySummary {
        let outcome = try perform(
            .add(
                NewEntry(
                    content, details: EntryDetails(tags: tags),
                    accessControl: AccessControl(presence: presence, onFailure: .lockOut))))
        guard case .added = outcome else { throw RefusedInTest(outcome: outcome) }
        return vault.entries[vault.entries.count - 1]
    }

    struct RefusedInTest: Error { let outcome: EditOutcome }

    /// Replaces the secret of the first entry with a tombstone, without the key, and reads the
    /// file.
    func forgeTombstone() throws {
        let text = String(decoding: try bytes, as: UTF8.self)
        var forged: [String] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            switch words[0] {
            case "sealed" where !forged.contains { $0.hasPrefix("tombstone ") }:
                forged.append("tombstone \(words[1]) 1700000000 failures\n")
            case "changes": forged.append("changes 1\n")
            case "end": break
            default: forged.append("\(line)\n")
            }
        }
        let start = Array(forged.joined().utf8)
        let digest = sha256(start.span)
        let end = Array("end ".utf8) + Base64.encode(digest.span) + Array("\n".utf8)
        try folder.write(start + end, to: "vault")
        _ = try vault.refresh()
    }

    /// Reads an entry's content in a rehearsal, which requires no presence check.
    func content(of id: RecordID) throws -> EntryContent {
        try vault.rehearse { changes throws(VaultError) in try changes.content(of: id) }
    }

    func counter(of id: RecordID) throws -> UInt64? { try vault.counter(of: id) }

    static func totp(_ issuer: String, _ account: String, key: SecretBytes = key) throws
        -> EntryContent
    {
        .oneTimePassword(try Credential(issuer: issuer, account: account, key: key))
    }

    static func hotp(_ account: String, counter: UInt64, key: SecretBytes = key) throws
        -> EntryContent
    {
        .oneTimePassword(
            try Credential(
                issuer: "", account: account, key: key, movingFactor: .counter(counter)))
    }
}

extension EntryRevision {
    /// A revision that changes only the given parts.
    init(
        _ entry: EntrySummary, issuer: String? = nil, account: String? = nil,
        details: DetailsChange = DetailsChange(), counter: UInt64? = nil,
        secret: SecretBytes? = nil, presence: AccessControl.Presence? = nil
    ) {
        self.init(of: entry)
        self.issuer = issuer
        self.account = account
        self.details = details
        codes = CodeChange(counter: counter, secret: secret)
        access = AccessControlChange(presence: presence)
    }
}
