/// The unencrypted part of a record: what must be known before the vault is open.
struct RecordLine: Hashable {
    let id: RecordID
    /// The generation in which the record was last sealed.
    let revision: UInt64
    let accessControl: AccessControl

    /// The minimum size of a record in the file: this line, the tombstone or sealed secret, and the
    /// manifest entry, in Base64.
    static let minimumFileSize = 200

    /// Writes the line, including its line feed.
    func write(to text: inout VaultText) {
        text.write("record ")
        text.writeBase64(id.bytes)
        text.write(" \(revision) ")
        text.write(accessControl.presence.word)
        text.write(" ")
        switch accessControl.onFailure {
        case .lockOut: text.write("lock-out")
        case .wipe(let count): text.write("wipe:\(count.value)")
        }
        text.endLine()
    }

    /// The line, including its line feed.
    var text: [UInt8] {
        var text = VaultText()
        write(to: &text)
        return text.bytes
    }
}

extension RecordLine {
    /// Reads a record's line.
    init(reading line: inout LineReader) throws(VaultError) {
        try line.skip("record")
        id = try line.recordID(in: line.word())
        revision = try line.count()
        let presence = try line.presence(in: line.word())
        let onFailure = try line.onFailure(in: line.lastWord())
        accessControl = AccessControl(presence: presence, onFailure: onFailure)
    }
}

extension LineReader {
    /// Decodes a record ID.
    func recordID(in word: Range<Int>) throws(VaultError) -> RecordID {
        let bytes = try base64(in: word, count: RecordID.count)
        return RecordID(bytes.span)
    }

    fileprivate func presence(in word: Range<Int>) throws(VaultError) -> AccessControl.Presence {
        guard let presence = AccessControl.Presence(where: { isWord(word, $0) }) else {
            throw damaged
        }
        return presence
    }

    fileprivate func onFailure(in word: Range<Int>) throws(VaultError) -> AccessControl.OnFailure {
        if isWord(word, "lock-out") { return .lockOut }
        let prefix = "wipe:"
        guard bytes[word].starts(with: prefix.utf8), word.count > prefix.utf8.count else {
            throw damaged
        }
        let digits = word.lowerBound + prefix.utf8.count..<word.upperBound
        guard let count = FailureCount(Int(try number(in: digits))) else { throw damaged }
        return .wipe(after: count)
    }
}
