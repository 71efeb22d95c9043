/// Replaces the secret of a wiped record.
public struct Tombstone: Hashable, Sendable {
    /// Why a record was wiped.
    public enum Reason: String, CaseIterable, Hashable, Sendable {
        /// Too many checks failed.
        case failures
        /// The service reported that the secret was revoked.
        case revoked
        /// The service reported that somebody else used the secret.
        case reuseDetected = "reuse-detected"
        /// The service reported too many wrong secrets.
        case tooManyFailures = "too-many-failures"
        /// The service reported that the account is closed.
        case accountClosed = "account-closed"
    }

    /// When it was wiped, in Unix seconds.
    public let time: Int64
    /// Why it was wiped.
    public let reason: Reason
}

/// A record's sealed secret, or the tombstone that replaced it.
enum RecordBody {
    /// The sealed box in Base64.
    case sealed(ArraySlice<UInt8>)
    case tombstone(Tombstone)

    /// Writes the line of the record `id`.
    func write(of id: RecordID, to text: inout VaultText) {
        switch self {
        case .sealed(let box):
            text.write("sealed ")
            text.writeBase64(id.bytes)
            text.write(" ")
            text.write(box)
        case .tombstone(let tombstone):
            text.write("tombstone ")
            text.writeBase64(id.bytes)
            text.write(" \(tombstone.time) \(tombstone.reason.rawValue)")
        }
        text.endLine()
    }
}

extension RecordBody {
    /// Reads the line of the record whose ID is the word `id` of another line.
    init(reading line: inout LineReader, of id: Range<Int>) throws(VaultError) {
        if line.isLine("sealed") {
            try line.skip("sealed")
            guard line.areEqual(try line.word(), id) else { throw line.damaged }
            self = .sealed(line.bytes[try line.lastWord()])
        } else {
            try line.skip("tombstone")
            guard line.areEqual(try line.word(), id) else { throw line.damaged }
            let time = Int64(try line.count())
            let word = try line.lastWord()
            let text = String(decoding: line.bytes[word], as: UTF8.self)
            guard let reason = Tombstone.Reason(rawValue: text) else { throw line.damaged }
            self = .tombstone(Tombstone(time: time, reason: reason))
        }
    }
}
