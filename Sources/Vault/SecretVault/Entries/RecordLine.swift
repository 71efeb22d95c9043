/// The unencrypted part of a record: the data that is needed before the vault is open.
struct RecordLine: Hashable {
    let id: RecordID
    /// The generation in which the record was last sealed.
    let revision: UInt64
    let accessControl: AccessControl

    /// The minimum size of a record in the file: this line, the tombstone or sealed secret, and the
    /// manifest entry, in Base64.
    static let minimumFileSize = 200

    /// The separator between the word for presence and the reuse time in seconds; used from format
    /// 3 on.
    fileprivate static let reuseMark = ",reuse:"

    /// A line for the same record, sealed in the generation `revision`.
    func sealed(in generation: UInt64) -> RecordLine {
        RecordLine(id: id, revision: generation, accessControl: accessControl)
    }

    /// Writes the line, including its line feed.
    func write(to text: inout VaultText) {
        text.write("record ")
        text.writeBase64(id.bytes)
        text.write(" \(revision) ")
        accessControl.write(to: &text)
        text.endLine()
    }

    /// The line, including its line feed.
    var text: [UInt8] {
        var text = VaultText()
        write(to: &text)
        return text.bytes
    }
}

extension AccessControl {
    /// Writes the words for presence and failures.
    func write(to text: inout VaultText) {
        text.write(presence.word)
        if reuse != .none { text.write("\(RecordLine.reuseMark)\(reuse.seconds)") }
        text.write(" ")
        switch onFailure {
        case .lockOut: text.write("lock-out")
        case .wipe(let count): text.write("wipe:\(count.value)")
        }
    }
}

extension RecordLine {
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

/// The permanent ID of a record: 16 random bytes, never reused.
public struct RecordID: Hashable, Sendable {
    // Two integers instead of an array, so that thousands of IDs need no allocations.
    private let high: UInt64
    private let low: UInt64

    static let count = 16
    /// The length of ``text`` in characters.
    public static let textCount = 2 * count

    /// Creates an ID from 16 bytes.
    init(_ bytes: Span<UInt8>) {
        precondition(bytes.count == RecordID.count, "a record ID has 16 bytes")
        var words: (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            words.0 = words.0 << 8 | UInt64(bytes[index])
            words.1 = words.1 << 8 | UInt64(bytes[index + 8])
        }
        (high, low) = words
    }

    var bytes: [UInt8] {
        (0..<16).map { index in
            UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(56 - 8 * (index % 8)))
        }
    }

    /// Whether its bytes come before those of `other`.
    func precedes(_ other: RecordID) -> Bool { (high, low) < (other.high, other.low) }

    /// 32 hexadecimal digits, which stay the same when the entry is renamed.
    public var text: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * RecordID.count)
        for word in [high, low] {
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 15
                digits.append(
                    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
