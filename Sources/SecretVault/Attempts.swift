/// Failures that were counted against the vault or one record, written down without the vault key.
///
/// The format has them so that counting needs no new one; this version reads and keeps them.
struct Attempts: Hashable {
    /// What the failures are counted against.
    enum Subject: Hashable {
        case vault
        case record(RecordID)
    }

    let subject: Subject
    /// Failures in a row, at least 1.
    let count: UInt64
    /// The latest Unix time that was seen, so that a clock set back is noticed.
    let seen: UInt64
    /// The Unix time before which no further try counts.
    let until: UInt64
    /// The kernel's boot when it was written, or 16 zeros when it was not known.
    let boot: [UInt8]
    /// Seconds since that boot.
    let uptime: UInt64

    static let bootCount = 16

    func write(to text: inout VaultText) {
        text.write("attempts ")
        switch subject {
        case .vault: text.write("vault")
        case .record(let id): text.writeBase64(id.bytes)
        }
        text.write(" \(count) \(seen) \(until) ")
        text.writeBase64(boot)
        text.write(" \(uptime)")
        text.endLine()
    }
}

extension Attempts {
    init(reading line: inout LineReader) throws(VaultError) {
        try line.skip("attempts")
        let word = try line.word()
        if line.isWord(word, "vault") {
            subject = .vault
        } else {
            subject = .record(try line.recordID(in: word))
        }
        count = try line.count()
        guard count > 0 else { throw line.damaged }
        seen = try line.count()
        until = try line.count()
        boot = try line.base64(in: line.word(), count: Attempts.bootCount)
        uptime = try line.lastCount()
    }
}
