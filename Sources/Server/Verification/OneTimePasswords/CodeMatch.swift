internal import OneTimePassword
internal import WatchwordCryptography

/// The match of a code with a credential's window.
enum CodeMatch: Hashable, Sendable {
    /// The code matches; `record` has already spent it.
    case right(offset: Int64)
    /// The code matches, but has already been spent.
    ///
    /// `further`: whether this attempt spent additional steps.
    case spent(further: Bool)
    /// The code matches no expected code.
    case wrong
}

extension TOTPState {
    /// Looks for a code in the window around the expected step, and spends the code.
    ///
    /// The whole window is searched. If several steps have the same code, all of them are spent,
    /// and the code is refused if any of them had already been spent: whether a code can be
    /// accepted twice must not depend on chance (RFC 6238, section 5.2).
    mutating func take(
        _ code: Span<UInt8>, from generator: borrowing CodeGenerator, at now: UnixTime,
        profile: WindowProfile, meter: WorkMeter?
    ) -> CodeMatch {
        guard let center = expectedStep(at: now) else { return .wrong }
        var first: Int64?
        var last: UInt64?
        var isSpent = false
        for offset in -profile.behind...profile.ahead {
            guard let step = center.advanced(byChecking: offset) else { continue }
            meter?.count(.codes)
            guard generator.match(code, around: step, behind: 0, ahead: 0) != nil else { continue }
            if self.isSpent(step) {
                isSpent = true
            } else {
                first = first ?? Int64(offset)
                last = step
            }
        }
        if let last { spend(through: last) }
        guard !isSpent else { return .spent(further: last != nil) }
        guard let first else { return .wrong }
        follow(first, profile, at: now)
        return .right(offset: first)
    }

    /// Centres the next window on the matching step, unless that window would exclude the old
    /// centre: after a late code, the next code must still be accepted if it arrives on time.
    private mutating func follow(_ offset: Int64, _ profile: WindowProfile, at now: UnixTime) {
        let reach = offset < 0 ? profile.ahead : profile.behind
        adjustDrift(by: offset.magnitude <= UInt64(reach) ? offset : 0, at: now)
    }

    /// Looks for two consecutive codes, the second within ±``Policy/maximumDrift`` of the server's
    /// clock, and spends both codes (RFC 6238, section 6).
    ///
    /// The tracked drift does not move this window, so repeated resynchronisations reach no further
    /// than a single one.
    mutating func resynchronize(
        _ first: Span<UInt8>, _ second: Span<UInt8>, from generator: borrowing CodeGenerator,
        at now: UnixTime, meter: WorkMeter?
    ) -> CodeMatch {
        guard let center = step(at: now) else { return .wrong }
        let reach = Policy.maximumDrift
        var found: (step: UInt64, drift: Int64)?
        var wasFirst = false
        var isSpent = false
        for offset in -reach...reach {
            guard let step = center.advanced(byChecking: offset) else { continue }
            meter?.count(.codes, 2)
            let isSecond = generator.match(second, around: step, behind: 0, ahead: 0) != nil
            if isSecond, wasFirst {
                // The first code belongs to the previous step.
                if self.isSpent(step - 1) { isSpent = true } else { found = (step, Int64(offset)) }
            }
            wasFirst = generator.match(first, around: step, behind: 0, ahead: 0) != nil
        }
        guard !isSpent else { return .spent(further: false) }
        guard let found else { return .wrong }
        spend(through: found.step)
        let offset = found.drift - drift
        setDrift(to: found.drift)
        return .right(offset: offset)
    }
}

extension HOTPState {
    /// Looks for a code within the look-ahead (RFC 4226, section 7.4), and spends the code and all
    /// earlier ones.
    ///
    /// A code that also matches one of the last ``Policy/recognizedCounters`` spent counters is
    /// refused as spent. The number of codes is the same for every counter.
    ///
    /// - Parameter claimed: the counter that the client claims; if given, only this counter is
    ///   checked (appendix E.4).
    mutating func take(
        _ code: Span<UInt8>, claiming claimed: UInt64?, from generator: borrowing CodeGenerator,
        lookAhead: Int, meter: WorkMeter?
    ) -> CodeMatch {
        var last: UInt64?
        var isSpent = false
        for offset in -Policy.recognizedCounters...lookAhead {
            let factor = counter &+ UInt64(bitPattern: Int64(offset))
            guard claimed ?? factor == factor else { continue }
            meter?.count(.codes)
            guard generator.match(code, around: factor, behind: 0, ahead: 0) != nil else {
                continue
            }
            if offset < 0, factor < counter { isSpent = true }
            if offset >= 0, factor >= counter, factor < Self.end { last = factor }
        }
        guard !isSpent else { return .spent(further: false) }
        guard let last else { return .wrong }
        defer { counter = last + 1 }
        return .right(offset: Int64(last - counter))
    }

    /// Looks for two consecutive codes among the next ``Policy/resynchronizationCounters``, and
    /// spends both codes.
    ///
    /// A pair whose first code is one of the last ``Policy/recognizedCounters`` spent ones is
    /// refused as spent.
    mutating func resynchronize(
        _ first: Span<UInt8>, _ second: Span<UInt8>, from generator: borrowing CodeGenerator,
        meter: WorkMeter?
    ) -> CodeMatch {
        var found: UInt64?
        var wasFirst = false
        var isSpent = false
        for offset in -Policy.recognizedCounters...Policy.resynchronizationCounters {
            let factor = counter &+ UInt64(bitPattern: Int64(offset))
            meter?.count(.codes, 2)
            let isSecond = generator.match(second, around: factor, behind: 0, ahead: 0) != nil
            if isSecond, wasFirst {
                // The first code belongs to the previous counter.
                if offset <= 0 {
                    isSpent = isSpent || factor <= counter && factor > 0
                } else if factor > counter, factor < Self.end {
                    found = found ?? factor
                }
            }
            wasFirst = generator.match(first, around: factor, behind: 0, ahead: 0) != nil
        }
        guard !isSpent else { return .spent(further: false) }
        guard let found else { return .wrong }
        defer { counter = found + 1 }
        return .right(offset: Int64(found - counter))
    }
}

extension UInt64 {
    /// The sum; `nil` if the sum is out of range.
    func advanced(byChecking offset: Int) -> UInt64? {
        let (sum, isOutside) =
            offset < 0
            ? subtractingReportingOverflow(UInt64(offset.magnitude))
            : addingReportingOverflow(UInt64(offset.magnitude))
        return isOutside ? nil : sum
    }
}

extension SealedSeed {
    /// The generator of this seed's codes.
    func generator(seed: SecretBytes) throws(VerifierError) -> CodeGenerator {
        guard let length = CodeLength(digits: parameters.digits) else { throw .damagedRow }
        return CodeGenerator(
            key: seed, algorithm: parameters.algorithm, style: .decimal(length))
    }
}

/// A dummy credential for attempts on credentials that do not exist.
///
/// The dummy is opened, checked, counted and written like a real credential, so that the response
/// time does not reveal whether a credential exists (V-06).
struct DummyCredential: Sendable {
    private let record: CredentialRecord

    init(under key: KeyVersion) {
        let nothing = [UInt8](repeating: 0, count: CredentialID.count)
        guard let id = CredentialID(bytes: nothing), let subject = Subject("nobody") else {
            preconditionFailure("the id and the subject are valid")
        }
        let place = SealingContext(id: id, subject: subject, kind: .totp)
        let seed = SecretBytes(
            copying: [UInt8](repeating: 0, count: HashAlgorithm.sha1.digestCount).span)
        let sealed = SealedSeed(
            sealing: seed, SealedSeed.Parameters(algorithm: .sha1, digits: 6, period: 30),
            for: place, under: key)
        var record = CredentialRecord(
            id: id, subject: subject, kind: .totp, createdAt: UnixTime(seconds: 0),
            origin: .unknown, state: .active, keyID: key.id, name: "",
            material: .time(TOTPState(seed: sealed)))
        record.confirmedAt = record.createdAt
        record.lastUsedAt = record.createdAt
        self.record = record
    }

    /// Treats `attempt` as a wrong code, and returns the row that would result.
    func refuse(_ attempt: CodeAttempt) throws(VerifierError) -> CredentialRow {
        var record = record
        // The result is ignored: no code of the dummy key is ever accepted.
        _ = try attempt.check(&record)
        _ = record.throttle.fail(at: attempt.context.now, limits: attempt.limits(of: record))
        return record.row
    }
}
