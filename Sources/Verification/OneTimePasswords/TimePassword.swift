/// What is stored of a TOTP credential.
struct TimePassword: Hashable, Sendable {
    var seed: SealedSeed
    /// The last step that is spent: it and all before it are refused for good.
    var spentThrough: UInt64?
    /// Steps by which the authenticator's clock was last seen ahead of ours (RFC 6238, section 6).
    var drift: Int64 = 0

    init(seed: SealedSeed) { self.seed = seed }

    /// The step that is expected at `now`; nothing before the first one.
    func expectedStep(at now: UnixTime) -> UInt64? {
        guard let step = step(at: now) else { return nil }
        let (sum, isOutside) =
            drift < 0
            ? step.subtractingReportingOverflow(drift.magnitude)
            : step.addingReportingOverflow(drift.magnitude)
        return isOutside ? nil : sum
    }

    /// The step of our own clock; nothing before 1970.
    func step(at now: UnixTime) -> UInt64? {
        guard let period = seed.period, now.milliseconds >= 0 else { return nil }
        return UInt64(now.seconds) / UInt64(period)
    }

    func isSpent(_ step: UInt64) -> Bool { spentThrough.map { step <= $0 } ?? false }

    mutating func spend(through step: UInt64) { spentThrough = max(spentThrough ?? 0, step) }

    func write(into writer: inout ByteWriter) {
        seed.write(into: &writer)
        writer.writeIfThere(spentThrough) { $0.write($1) }
        writer.write(drift)
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        seed = try SealedSeed(from: &reader)
        spentThrough = try reader.readIfThere { reader throws(ByteReaderError) in
            try reader.read()
        }
        drift = try reader.read()
        guard seed.period != nil else { throw .malformed }
    }
}

/// What is stored of an HOTP credential.
struct CounterPassword: Hashable, Sendable {
    var seed: SealedSeed
    /// The counter of the next code: all before it are spent.
    var counter: UInt64

    /// No code of this counter is ever accepted: the one before it is the last.
    static let end = UInt64.max

    init(seed: SealedSeed, counter: UInt64) {
        self.seed = seed
        self.counter = counter
    }

    func write(into writer: inout ByteWriter) {
        seed.write(into: &writer)
        writer.write(counter)
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        seed = try SealedSeed(from: &reader)
        counter = try reader.read()
        guard seed.period == nil else { throw .malformed }
    }
}
