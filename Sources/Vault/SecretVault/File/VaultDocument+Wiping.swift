extension VaultDocument {
    /// A copy of the file with tombstones in place of these records' secrets; needs no key.
    ///
    /// - Returns: `nil` if none of them still has a secret.
    func wiping(_ ids: Set<RecordID>, leaving tombstone: Tombstone) throws(VaultError)
        -> VaultDocument?
    {
        var wiped: UInt64 = 0
        var text = VaultText()
        text.write(bytes[..<headerEnd])
        text.write(macLine)
        for (line, body) in zip(records, bodies) {
            var left = body
            if case .sealed = body, ids.contains(line.id) {
                left = .tombstone(tombstone)
                wiped += 1
            }
            left.write(of: line.id, to: &text)
        }
        guard wiped > 0 else { return nil }
        guard changes <= VaultLimits.number - wiped else { throw .overLimit(.generations) }
        text.write("manifest ")
        text.writeBase64(manifest)
        text.write("\nchanges \(changes + wiped)\n")
        text.write(VaultEnvelope.lastLine(for: text.bytes[...]))
        return try VaultDocument(parsing: text.bytes)
    }

    /// The records whose failures count: those with a secret, and those whose wipe may not be listed
    /// in the manifest.
    var countedLines: [RecordLine] {
        zip(records, bodies).compactMap { line, body in
            switch body {
            case .sealed: line
            case .tombstone(let tombstone):
                changes > 0 && tombstone.reason == .failures ? line : nil
            }
        }
    }

    /// Whether any of these records still has its secret.
    func hasSecret(ofAny ids: Set<RecordID>) -> Bool {
        zip(records, bodies).contains { line, body in
            if case .sealed = body { ids.contains(line.id) } else { false }
        }
    }
}
