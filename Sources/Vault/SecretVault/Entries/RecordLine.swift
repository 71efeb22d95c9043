/// The unencrypted part of a record: what must be known before the vault is open.
struct RecordLine: Hashable {
    let id: RecordID
    /// The generation in which the record was last sealed.
    let revision: UInt64
    let accessControl: AccessControl

    /// The minimum size of a record in the file: this line, the tombstone or sealed secret, and the
    /// manifest entry, in Base64.
    static let minimumFileSize = 200

    /// What precedes the number of seconds after the word for presence, in format 3.
    fileprivate static let reuseMark = ",reuse:"

    /// Writes the line, including its line feed.
    func write(to text: inout VaultText) {
        text.write("record ")
        text.writeBase64(id.bytes)
        text.write(" \(revision) ")
        text.write(accessControl.presence.word)
        if accessControl.reuse != .none {
            text.write("\(RecordLine.reuseMark)\(accessControl.reuse.seconds)")
        }
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
        let (presence, reuse) = try line.presence(in: line.word())
        let onFailure = try line.onFailure(in: line.lastWord())
        accessControl = AccessControl(presence: presence, onFailure: onFailure, reuse: reuse)
    }
}

extension LineReader {
    /// Decodes a record ID.
    func recordID(in word: Range<Int>) throws(VaultError) -> RecordID {
        let bytes = try base64(in: word, count: RecordID.count)
        return RecordID(bytes.span)
    }

    fileprivate func presence(
        in word: Range<Int>
    ) throws(VaultError) -> (AccessControl.Presence, ReuseTime) {
        let end = bytes[word].firstIndex(of: UInt8(ascii: ",")) ?? word.upperBound
        let name = word.lowerBound..<end
        guard let presence = AccessControl.Presence(where: { isWord(name, $0) }) else {
            throw damaged
        }
        guard end < word.upperBound else { return (presence, .none) }
        let mark = RecordLine.reuseMark.utf8
        let rest = bytes[end..<word.upperBound]
        guard presence.isPerUse, rest.starts(with: mark), rest.count > mark.count else {
            throw damaged
        }
        let seconds = Int(try number(in: end + mark.count..<word.upperBound))
        guard let reuse = ReuseTime(seconds), reuse != .none else { throw damaged }
        return (presence, reuse)
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
