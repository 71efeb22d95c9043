/// The stored state of a TOTP credential.
package struct TOTPState: Hashable, Sendable {
    var seed: SealedSeed
    /// The last spent step.
    ///
    /// Codes of this step and of all earlier steps are refused permanently.
    var spentThrough: UInt64?
    /// The number of steps by which the authenticator's clock was last observed to be ahead of the
    /// server's (RFC 6238, section 6), at most ``Policy/maximumDrift`` in either direction.
    private(set) var drift: Int64 = 0
    /// When a login last changed the drift, or when the credential was restored from a backup;
    /// `nil` if neither has happened since enrolment or the last resynchronisation.
    private(set) var driftAdjustedAt: UnixTime?

    init(seed: SealedSeed) { self.seed = seed }

    /// The expected step at `now`; `nil` before the first step.
    func expectedStep(at now: UnixTime) -> UInt64? {
        guard let step = step(at: now) else { return nil }
        let (sum, isOutside) =
            drift < 0
            ? step.subtractingReportingOverflow(drift.magnitude)
            : step.addingReportingOverflow(drift.magnitude)
        return isOutside ? nil : sum
    }

    /// The step of the server's clock; `nil` before 1970.
    func step(at now: UnixTime) -> UInt64? {
        seed.parameters.period.flatMap { now.step(ofPeriod: $0) }
    }

    func isSpent(_ step: UInt64) -> Bool { spentThrough.map { step <= $0 } ?? false }

    mutating func spend(through step: UInt64) { spentThrough = max(spentThrough ?? 0, step) }

    /// Changes the drift by the offset of a login, up to ``Policy/maximumDrift`` and by at most one
    /// step per ``Policy/driftInterval``.
    ///
    /// Without these limits, an attacker who has collected many codes could move the window.
    mutating func adjustDrift(by steps: Int64, at now: UnixTime) {
        let isDue =
            driftAdjustedAt.map { now.milliseconds(since: $0) >= Policy.driftInterval } ?? true
        guard steps != 0, isDue, isPermitted(drift + steps) else { return }
        drift += steps
        driftAdjustedAt = now
    }

    /// Sets the drift that two consecutive codes prove.
    ///
    /// The next login may change the drift immediately.
    mutating func setDrift(to steps: Int64) {
        precondition(isPermitted(steps), "a resynchronisation searches only this range")
        drift = steps
        driftAdjustedAt = nil
    }

    /// Spends every step that may have been accepted up to `now`, with the widest window and the
    /// largest drift, and sets the time of the last drift change to `now`.
    mutating func spendAllPossibleSteps(by now: UnixTime) {
        guard let step = step(at: now) else { return }
        let reach = Policy.maximumDrift + WindowProfile.wide.ahead
        spend(through: step.advanced(byChecking: reach) ?? .max)
        driftAdjustedAt = now
    }

    private func isPermitted(_ drift: Int64) -> Bool {
        drift.magnitude <= UInt64(Policy.maximumDrift)
    }

    func write(into writer: inout ByteWriter) {
        seed.write(into: &writer)
        writer.writeOptional(spentThrough) { $0.write($1) }
        writer.write(drift)
        writer.writeOptional(driftAdjustedAt) { $0.write($1) }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        seed = try SealedSeed(from: &reader)
        spentThrough = try reader.readFlag() ? reader.read() : nil
        drift = try reader.read()
        driftAdjustedAt = try reader.readOptionalTime()
        guard seed.parameters.period != nil, isPermitted(drift) else { throw .damagedRow }
    }
}

/// The stored state of an HOTP credential.
package struct HOTPState: Hashable, Sendable {
    var seed: SealedSeed
    /// The counter of the next code.
    ///
    /// All lower counters are spent.
    var counter: UInt64

    /// This counter is never accepted: the preceding counter is the last.
    static let end = UInt64.max

    init(seed: SealedSeed, counter: UInt64) {
        self.seed = seed
        self.counter = counter
    }

    func write(into writer: inout ByteWriter) {
        seed.write(into: &writer)
        writer.write(counter)
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        seed = try SealedSeed(from: &reader)
        counter = try reader.read()
        guard seed.parameters.period == nil else { throw .damagedRow }
    }
}
