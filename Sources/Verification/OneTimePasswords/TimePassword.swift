/// What is stored of a TOTP credential.
struct TimePassword: Hashable, Sendable {
    var seed: SealedSeed
    /// The last step that is spent: it and all before it are refused for good.
    var spentThrough: UInt64?
    /// Steps by which the authenticator's clock was last seen ahead of ours (RFC 6238, section 6): at
    /// most ``Policy/maximalDrift`` either way.
    private(set) var drift: Int64 = 0
    /// When a login last moved the drift; `nil` since the enrolment or a resynchronisation.
    private(set) var driftMovedAt: UnixTime?

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

    /// Moves the drift by what a login showed, within ``Policy/maximalDrift`` and no faster than a step
    /// in each ``Policy/driftInterval``: whoever holds many codes must not walk the window away with them.
    mutating func moveDrift(by steps: Int64, at now: UnixTime) {
        let isDue = driftMovedAt.map { now.milliseconds(since: $0) >= Policy.driftInterval } ?? true
        guard steps != 0, isDue, isPermitted(drift + steps) else { return }
        drift += steps
        driftMovedAt = now
    }

    /// Sets the drift that two consecutive codes proved; the next move is not delayed.
    mutating func setDrift(to steps: Int64) {
        precondition(isPermitted(steps), "a resynchronisation looks no further")
        drift = steps
        driftMovedAt = nil
    }

    /// Spends every step that may have been accepted up to `now`, in the widest window and at the
    /// largest drift, and counts the drift as moved now.
    mutating func spendAllThatCouldBe(by now: UnixTime) {
        guard let step = step(at: now) else { return }
        let reach = Policy.maximalDrift + WindowProfile.wide.ahead
        spend(through: step.advanced(byChecking: reach) ?? .max)
        driftMovedAt = now
    }

    private func isPermitted(_ drift: Int64) -> Bool {
        drift.magnitude <= UInt64(Policy.maximalDrift)
    }

    func write(into writer: inout ByteWriter) {
        seed.write(into: &writer)
        writer.writeIfThere(spentThrough) { $0.write($1) }
        writer.write(drift)
        writer.writeIfThere(driftMovedAt) { $0.write($1) }
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        seed = try SealedSeed(from: &reader)
        spentThrough = try reader.readIfThere { reader throws(ByteReaderError) in
            try reader.read()
        }
        drift = try reader.read()
        driftMovedAt = try reader.readTimeIfThere()
        guard seed.period != nil, isPermitted(drift) else { throw .malformed }
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
