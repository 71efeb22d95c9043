extension VaultDocument {
    /// The file with a tombstone in the place of each of these records' sealed parts; no key is needed.
    ///
    /// - Returns: `nil` where none of them holds a secret any more.
    func wiping(_ ids: Set<RecordID>, leaving tombstone: Tombstone) throws(VaultError) -> [UInt8]? {
        var isChanged = false
        var text = VaultText()
        text.write(bytes[..<headerEnd])
        text.write(macLine)
        for (line, body) in zip(records, bodies) {
            var left = body
            if case .sealed = body, ids.contains(line.id) {
                left = .tombstone(tombstone)
                isChanged = true
            }
            left.write(of: line.id, to: &text)
        }
        guard isChanged else { return nil }
        guard changes < VaultLimits.number else { throw .overLimit(.generations) }
        text.write("manifest ")
        text.writeBase64(manifest)
        text.write("\nchanges \(changes + 1)\n")
        text.write(try VaultEnvelope.lastLine(for: text.bytes[...]))
        return text.bytes
    }
}
