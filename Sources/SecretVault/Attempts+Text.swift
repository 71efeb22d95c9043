// The file `vault.attempts`; the page VaultFile.md describes it.
extension Attempts {
    static let version = 1
    /// What such a file of any version begins with.
    static let magic = Array("watchword-attempts ".utf8)
    /// Room for a line for each record that a vault may hold.
    static let sizeLimit = 16 << 20

    /// The file that says this.
    func text() throws(VaultError) -> [UInt8] {
        var text = VaultText()
        text.write(Attempts.magic)
        text.write("\(Attempts.version)\n")
        text.write(VaultLines.vault(vaultID))
        if let vault {
            text.write("vault-failures ")
            vault.write(to: &text)
        }
        for id in records.keys.sorted(by: { $0.precedes($1) }) {
            guard let counted = records[id] else { continue }
            text.write("record-failures ")
            text.writeBase64(id.bytes)
            text.write(" \(counted.revision) ")
            counted.failures.write(to: &text)
        }
        text.write(try VaultEnvelope.lastLine(for: text.bytes[...]))
        return text.bytes
    }

    /// Reads such a file.
    ///
    /// - Throws: ``VaultError/newerVersion(_:)``, ``VaultError/damaged(_:)`` or ``VaultError/truncated``.
    init(reading bytes: [UInt8]) throws(VaultError) {
        var line = LineReader(bytes)
        try line.next()
        try line.skip("watchword-attempts")
        let version = try line.lastCount()
        guard version == Attempts.version else {
            guard version > Attempts.version, version < 1_000_000_000 else { throw line.damaged }
            throw .newerVersion(Int(version))
        }
        try Attempts.verifyEnd(of: bytes)
        try line.next()
        try line.skip("vault")
        let vaultID = try line.base64(in: line.lastWord(), count: VaultDocument.vaultIDCount)
        try line.next()
        var vault: Failures?
        if line.isLine("vault-failures") {
            try line.skip("vault-failures")
            vault = try Failures(reading: &line)
            try line.next()
        }
        let records = try Attempts.readRecords(&line)
        guard line.start == bytes.count - VaultEnvelope.lastLineCount else { throw line.damaged }
        self.init(of: vaultID, vault: vault, records: records)
    }

    private static func verifyEnd(of bytes: [UInt8]) throws(VaultError) {
        let count = VaultEnvelope.lastLineCount
        guard bytes.count > count,
            try VaultEnvelope.lastLine(for: bytes.dropLast(count))
                .elementsEqual(bytes.suffix(count))
        else { throw .damaged(.checksum) }
    }

    // In the order of their IDs, so none stands here twice.
    private static func readRecords(_ line: inout LineReader) throws(VaultError)
        -> [RecordID: OfRecord]
    {
        var records: [RecordID: OfRecord] = [:]
        var last: RecordID?
        while line.isLine("record-failures") {
            try line.skip("record-failures")
            let id = try line.recordID(in: line.word())
            guard last.map({ $0.precedes(id) }) ?? true else { throw line.damaged }
            let revision = try line.count()
            guard (1...VaultLimits.generation).contains(revision) else { throw line.damaged }
            records[id] = OfRecord(revision: revision, failures: try Failures(reading: &line))
            last = id
            try line.next()
        }
        return records
    }
}

extension Failures {
    fileprivate func write(to text: inout VaultText) {
        text.write("\(count) \(wait) \(seen) ")
        text.writeBase64(boot)
        text.write(" \(uptime)")
        text.endLine()
    }

    fileprivate init(reading line: inout LineReader) throws(VaultError) {
        let count = try line.count()
        let wait = try line.count()
        // A file can't ask for a longer wait than its failures cost.
        guard count > 0, wait <= Failures.wait(after: count) else { throw line.damaged }
        self.init(
            count: count, wait: wait, seen: try line.count(),
            boot: try line.base64(in: line.word(), count: ClockReading.bootCount),
            uptime: try line.lastCount())
    }
}
