internal import Devices
internal import SecretVault
internal import Synchronization
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// The fingers of a user that must be enrolled, without any others, to open an entry.
///
/// The fingers are enrolled at the readers of this machine, so the vault does not contain them.
struct FingerRecord {
    /// The required fingers, by the text of the entry's ID.
    private var fingers: [String: EnrolledFingers] = [:]

    fileprivate static let name = "fingers"
    private static let beginning = "watchword-fingers 1\n"
    /// The maximum size of the file in bytes, enough for hundreds of entries.
    private static let largest = 1 << 15
    /// Lets one thread at a time change files; no other process changes them.
    private static let turn = Mutex(())

    init() {}

    /// Parses the content of the file; `nil` if it is damaged.
    init?(parsing bytes: [UInt8]) {
        var found: [String: EnrolledFingers] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst() {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            if words.count == 2, words[0] != "end" {
                found[String(words[0])] = EnrolledFingers(text: String(words[1]))
            }
        }
        self.init()
        fingers = found
        guard self.bytes == bytes else { return nil }
    }

    /// The content of the file.
    var bytes: [UInt8] {
        let lines = fingers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text)\n" }
        let text = Array((FingerRecord.beginning + lines.joined()).utf8)
        let digest = sha256(text.span).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return text + Array("end \(digest.joined())\n".utf8)
    }

    /// The fingers that an entry requires; `nil` if it accepts any.
    subscript(id: RecordID) -> EnrolledFingers? {
        get { fingers[id.text] }
        set { fingers[id.text] = newValue }
    }

    /// The reason why an entry is not opened while these fingers are enrolled; `nil` if it may be
    /// opened.
    func difference(_ enrolled: EnrolledFingers?, for id: RecordID) -> FingerDifference? {
        guard let required = self[id] else { return nil }
        guard let enrolled else { return .unreachable }
        if enrolled.text.isEmpty { return .noFinger }
        return enrolled == required ? nil : .changed
    }
}

extension FingerRecord {
    /// The record of a user; `nil` if it is damaged.
    static func read(of account: SystemAccount) -> FingerRecord? {
        do throws(FileError) {
            let bytes = try Folder.readPrivateFile(at: "\(account.folder)/\(name)", limit: largest)
            return FingerRecord(parsing: bytes)
        } catch {
            return error == .missing ? FingerRecord() : nil
        }
    }

    /// Records the fingers that an entry requires; `nil` removes the requirement.
    ///
    /// - Parameter entries: all entries of the vault; fingers recorded for other entries are
    ///   deleted.
    static func set(
        _ enrolled: EnrolledFingers?, for id: RecordID, among entries: [EntrySummary]? = nil,
        of account: SystemAccount
    ) throws(VaultError) {
        try turn.withLock { _ throws(VaultError) in
            guard var record = FingerRecord.read(of: account) else {
                throw .inTheWay(name: name)
            }
            record[id] = enrolled
            if let entries {
                let known = Set(entries.map(\.id.text))
                record.fingers = record.fingers.filter { known.contains($0.key) }
            }
            let bytes = record.bytes
            guard bytes.count <= largest else { throw .overLimit(.entries) }
            try account.put(record.fingers.isEmpty ? nil : bytes, at: name, by: file)
        }
    }

    fileprivate static var file: FileReplacement {
        FileReplacement(of: name, beginningWith: Array(beginning.utf8))
    }
}

extension SystemAccount {
    /// Deletes the record of required fingers, because the vault leaves this agent.
    func forgetFingers() {
        // If the file remains, it does not affect the entries of another vault.
        _ = ifPossible(try put(nil, at: FingerRecord.name, by: FingerRecord.file))
    }
}

/// A check by the system's PAM modules that also compares the enrolled fingers.
///
/// The enrolled fingers are read before and after the check: otherwise, a finger that is enrolled
/// during the check could pass it.
struct FingerCheck: PresenceCheck {
    typealias Grade = Enforced

    private let entry: EntrySummary
    private let account: SystemAccount
    private let request: HeldRequest
    /// The reason why the check was not made or does not count.
    private(set) var refusal: FingerDifference?

    init(for entry: EntrySummary, of account: SystemAccount, _ request: HeldRequest) {
        self.entry = entry
        self.account = account
        self.request = request
    }

    mutating func isPresent(for purpose: String) throws(PAMCheckFailure) -> Bool {
        let modules = RelayedCheck<Enforced>(
            request.relay, request.person, user: account.user, for: entry.name)
        guard let record = FingerRecord.read(of: account) else {
            try expectProof(because: .damaged)
            return try modules.isPresent(for: purpose)
        }
        guard record[entry.id] != nil else { return try modules.isPresent(for: purpose) }
        let enrolled = try request.relay.fingers(of: account.user)
        let difference = record.difference(enrolled, for: entry.id)
        if let difference { try expectProof(because: difference) }
        guard try modules.isPresent(for: purpose) else { return false }
        guard difference == nil || difference == .changed else { return true }
        guard try request.relay.fingers(of: account.user) == enrolled else {
            try refuse(because: .changed)
        }
        if difference != nil {
            // If recording the fingers fails, the next check requires the proof again.
            _ = ifPossible(try FingerRecord.set(enrolled, for: entry.id, of: account))
        }
        return true
    }

    private mutating func expectProof(
        because difference: FingerDifference
    ) throws(PAMCheckFailure) {
        if !request.isProved { try refuse(because: difference) }
    }

    /// Ends the check without counting a failure.
    private mutating func refuse(
        because difference: FingerDifference
    ) throws(PAMCheckFailure) -> Never {
        refusal = difference
        throw PAMCheckFailure(.cancelled)
    }
}

extension HeldRequest {
    func fingersToRequire(_ isCurrent: Bool) throws -> EnrolledFingers? {
        guard case .account(let account) = service.reach else {
            throw RequestRefusal(.misunderstood)
        }
        guard FingerRecord.read(of: account) != nil else {
            throw RequestRefusal(.fingersDiffer(.damaged))
        }
        guard isCurrent else { return nil }
        let enrolled = try relay.fingers(of: account.user)
        guard let enrolled else { throw RequestRefusal(.fingersDiffer(.unreachable)) }
        guard !enrolled.text.isEmpty else { throw RequestRefusal(.fingersDiffer(.noFinger)) }
        return enrolled
    }

    func setFingers(
        _ fingers: EnrolledFingers?, of id: RecordID, among entries: [EntrySummary]?
    ) throws(VaultError) {
        guard case .account(let account) = service.reach else { return }
        try FingerRecord.set(fingers, for: id, among: entries, of: account)
    }

    func keepingFingers(
        of earlier: [EntrySummary]
    ) -> @Sendable (RecordID) throws(VaultError) -> Void {
        // While the record is damaged, every check requires the proof.
        guard case .account(let account) = service.reach,
            let record = FingerRecord.read(of: account),
            let fingers = earlier.compactMap({ record[$0.id] }).last
        else { return { _ in } }
        // The save may fail, so the fingers recorded for the earlier entries stay.
        return { id throws(VaultError) in
            try FingerRecord.set(fingers, for: id, of: account)
        }
    }
}
