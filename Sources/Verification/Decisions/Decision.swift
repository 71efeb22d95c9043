internal import Cryptography

/// What is answered, and what has to be stored for that: all of it, or the answer is not given.
struct Decision<Outcome: Sendable>: Sendable {
    let outcome: Outcome
    var changes: [StoreChange]
    /// The credential whose secrets the outcome hands out: with it ends the answer that is kept.
    var secretsOf: CredentialID?
    /// Whether the answer is kept for a request that comes again.
    ///
    /// It need not be where deciding again denies again: so nobody fills the disk with denials, and none
    /// outlives its cause.
    var keepsAnswer = true
    /// What is written only as often as ``DenialBook`` permits.
    var denial: CountedDenial?
}

/// What a decision is made with beside the rows.
struct DecisionContext: Sendable {
    let now: UnixTime
    let policy: Policy
    let keys: KeyRing
    let verification: VerificationID
    let origin: Origin
    let randomness: RandomSource
    let meter: WorkMeter?

    /// The key version that a row names.
    func key(_ id: KeyID?) throws(VerifierError) -> KeyVersion {
        guard let id else { throw .damagedRow }
        guard let key = keys.version(id) else { throw .keyMissing(id) }
        return key
    }

    /// An event of this decision.
    func event(
        _ kind: Event.Kind, _ reason: Event.Reason? = nil, subject: Subject?,
        credential: CredentialID? = nil, number: Int64? = nil
    ) -> StoreChange {
        .appendEvent(
            unwritten(
                kind, reason, subject: subject, credential: credential, number: number))
    }

    /// An event that may not be written.
    func unwritten(
        _ kind: Event.Kind, _ reason: Event.Reason?, subject: Subject?,
        credential: CredentialID?, number: Int64? = nil
    ) -> Event {
        Event(
            kind, reason: reason, time: now, subject: subject, credential: credential,
            verification: verification, origin: origin, number: number)
    }

    func event(
        _ kind: Event.Kind, _ reason: Event.Reason? = nil, of record: CredentialRecord,
        number: Int64? = nil
    ) -> StoreChange {
        event(kind, reason, subject: record.subject, credential: record.id, number: number)
    }

    /// What is written in place of the row that a wrong code changes.
    ///
    /// - Parameter body: what that row would hold; nothing where it does not matter.
    func decoy(_ body: [UInt8]? = nil) -> DecoyRow {
        let slot = verification.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        return DecoyRow(slot: slot, body: body ?? [UInt8](repeating: 0, count: 240))
    }

    /// Random bytes that may be seen.
    func randomBytes(_ count: Int) throws(VerifierError) -> [UInt8] {
        do throws(CryptographyFailure) {
            return try randomness.bytes(count)
        } catch { throw .cryptography(error) }
    }

    /// Random bytes that nobody may see.
    func randomSecret(_ count: Int) throws(VerifierError) -> SecretBytes {
        do throws(CryptographyFailure) {
            return try randomness.secret(count)
        } catch { throw .cryptography(error) }
    }
}

/// Runs what OpenSSL does as part of a decision.
func deciding<Result>(
    _ body: () throws(CryptographyFailure) -> Result
) throws(VerifierError) -> Result {
    do throws(CryptographyFailure) { return try body() } catch { throw .cryptography(error) }
}
