internal import WatchwordSystem

/// The attempts file: two slots of a fixed size, each of which holds all the counts.
///
/// The newer complete slot is valid, and the other one is overwritten next, in place. That needs no
/// disk space, and an interrupted write leaves the valid slot intact.
struct AttemptsFile {
    static let slotCount = 16 << 10
    /// The size of a disk block; writes are whole blocks.
    private static let blockCount = 4 << 10
    /// The longest valid waits in seconds, after one, two and more attempts in a row; the last
    /// value applies to all further attempts.
    ///
    /// These limits belong to version 1 of the format and do not depend on ``LockOutPolicy``: a
    /// reader treats a longer wait as damage. A policy with a longer wait needs a new version of
    /// the format. A shorter wait is valid: an attacker who can write it can also delete the file.
    static let longestStoredWaits: [UInt64] = [0, 0, 0, 0, 60, 300, 900, 1_800, 3_600]

    /// The counts in the valid slot.
    let attempts: Attempts
    /// Whether the file can be overwritten in place.
    let isWhole: Bool
    private let sequence: UInt64
    private let newer: Int

    /// Parses the attempts file of the vault `vaultID`.
    ///
    /// A file that is damaged or belongs to another vault counts as empty: an attacker who can
    /// damage it can also delete it.
    ///
    /// - Throws: ``VaultError/newerAttempts(_:)``.
    init(reading bytes: [UInt8], of vaultID: [UInt8]) throws(VaultError) {
        var newest = (Attempts(of: vaultID), sequence: UInt64(0))
        var newer = 1
        for slot in 0..<2 {
            do throws(VaultError) {
                let text = bytes.dropFirst(slot * Self.slotCount).prefix(Self.slotCount)
                let read = try Attempts.read(Array(text))
                guard read.0.vaultID == vaultID, read.sequence > newest.sequence else { continue }
                (newest, newer) = (read, slot)
            } catch {
                if case .newerVersion(let version) = error { throw .newerAttempts(version) }
            }
        }
        attempts = newest.0
        sequence = newest.sequence
        self.newer = newer
        // Readers reject a sequence number above the maximum.
        isWhole = bytes.count == 2 * Self.slotCount && sequence > 0 && sequence < VaultLimits.number
    }

    /// The content of a new file at its full size, so that its disk space is allocated.
    static func holding(_ attempts: Attempts) -> [UInt8] {
        var bytes: [UInt8] = []
        for sequence: UInt64 in 1...2 {
            bytes += attempts.text(sequence: sequence)
            bytes += [UInt8](repeating: 0, count: Int(sequence) * slotCount - bytes.count)
        }
        return bytes
    }

    /// The bytes to write, and their offset, to store these counts in a file that can be
    /// overwritten in place.
    func writing(_ attempts: Attempts) -> (bytes: [UInt8], offset: Int) {
        var bytes = attempts.text(sequence: sequence + 1)
        // The limit on counted records guarantees that the text fits.
        let blocks = (bytes.count + Self.blockCount - 1) / Self.blockCount
        bytes += [UInt8](repeating: 0, count: blocks * Self.blockCount - bytes.count)
        return (bytes, (1 - newer) * Self.slotCount)
    }
}

// One slot of the attempts file, as defined in VaultFile.md.
extension Attempts {
    static let version = 1
    private static let firstLine = Array("watchword-attempts \(version)\n".utf8)

    /// The beginning of each slot in this vault's attempts file.
    static func beginning(of vaultID: [UInt8]) -> [UInt8] { firstLine + VaultLines.vault(vaultID) }

    /// The text of a slot with this sequence number.
    func text(sequence: UInt64) -> [UInt8] {
        var text = VaultText()
        text.write(Attempts.beginning(of: vaultID))
        text.write("sequence \(sequence)\n")
        if let vault {
            text.write("vault-failures ")
            vault.write(to: &text)
        }
        for (slots, count) in refusals.sorted(by: { $0.key.precedes($1.key) }) {
            text.write("vault-refusals ")
            text.writeBase64(slots.bytes)
            text.write(" \(count)")
            text.endLine()
        }
        for id in records.keys.sorted(by: { $0.precedes($1) }) {
            guard let counted = records[id] else { continue }
            text.write("record-failures ")
            text.writeBase64(id.bytes)
            text.write(" \(counted.revision) ")
            counted.failures.write(to: &text)
        }
        text.write(VaultEnvelope.lastLine(for: text.bytes[...]))
        return text.bytes
    }

    /// Parses the text of a slot; ignores the padding after its last line.
    ///
    /// - Throws: ``VaultError/newerVersion(_:)``, ``VaultError/damaged(_:)`` or
    ///   ``VaultError/truncated``.
    static func read(_ bytes: [UInt8]) throws(VaultError) -> (Attempts, sequence: UInt64) {
        var line = LineReader(bytes)
        try line.next()
        try line.skip("watchword-attempts")
        let version = try line.lastCount()
        guard version == Attempts.version else {
            guard version > Attempts.version, version < 1_000_000_000 else { throw line.damaged }
            throw .newerVersion(Int(version))
        }
        try line.next()
        try line.skip("vault")
        let vaultID = try line.base64(in: line.lastWord(), count: VaultDocument.vaultIDCount)
        try line.next()
        try line.skip("sequence")
        let sequence = try line.lastCount()
        guard sequence > 0 else { throw line.damaged }
        try line.next()
        var vault: Failures?
        if line.isLine("vault-failures") {
            try line.skip("vault-failures")
            vault = try Failures(reading: &line)
            try line.next()
        }
        let refusals = try Attempts.readRefusals(&line, atMost: vault?.refused ?? 0)
        let records = try Attempts.readRecords(&line)
        let end = line.start..<line.end + 1
        guard VaultEnvelope.lastLine(for: bytes[..<line.start]).elementsEqual(bytes[end]) else {
            throw .damaged(.checksum)
        }
        return (
            Attempts(of: vaultID, vault: vault, refusals: refusals, records: records), sequence
        )
    }

    // Ascending digests rule out duplicates. The counts together are at most the refused attempts.
    private static func readRefusals(_ line: inout LineReader, atMost refused: UInt64)
        throws(VaultError) -> [SlotsDigest: UInt64]
    {
        var refusals: [SlotsDigest: UInt64] = [:]
        var last: SlotsDigest?
        var left = refused
        while line.isLine("vault-refusals") {
            try line.skip("vault-refusals")
            let slots = SlotsDigest(try line.base64(in: line.word(), count: SlotsDigest.count))
            let count = try line.lastCount()
            guard last.map({ $0.precedes(slots) }) ?? true, count > 0, count <= left,
                refusals.count < maximumRefuserCount
            else { throw line.damaged }
            refusals[slots] = count
            left -= count
            last = slots
            try line.next()
        }
        return refusals
    }

    // Ascending IDs rule out duplicates.
    private static func readRecords(_ line: inout LineReader) throws(VaultError)
        -> [RecordID: RecordFailures]
    {
        var records: [RecordID: RecordFailures] = [:]
        var last: RecordID?
        while line.isLine("record-failures") {
            try line.skip("record-failures")
            let id = try line.recordID(in: line.word())
            guard last.map({ $0.precedes(id) }) ?? true else { throw line.damaged }
            let revision = try line.count()
            guard (1...VaultLimits.generation).contains(revision) else { throw line.damaged }
            records[id] = RecordFailures(revision: revision, failures: try Failures(reading: &line))
            last = id
            try line.next()
        }
        guard records.count <= maximumRecordCount else { throw line.damaged }
        return records
    }
}

extension Failures {
    fileprivate func write(to text: inout VaultText) {
        text.write("\(refused) \(undecided) \(wait) \(start.wall) ")
        text.writeBase64(start.boot)
        text.write(" \(start.uptime)")
        text.endLine()
    }

    fileprivate init(reading line: inout LineReader) throws(VaultError) {
        let refused = try line.count()
        let undecided = try line.count()
        let wait = try line.count()
        let limits = AttemptsFile.longestStoredWaits
        let count = min(refused + undecided, UInt64(limits.count))
        guard count > 0, wait <= limits[Int(count) - 1] else { throw line.damaged }
        self.init(
            refused: refused, undecided: undecided, wait: wait,
            start: ClockReading(
                seen: try line.count(),
                boot: try line.base64(in: line.word(), count: ClockReading.bootCount),
                uptime: try line.lastCount()))
    }
}
