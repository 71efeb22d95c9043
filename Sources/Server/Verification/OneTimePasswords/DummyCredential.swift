internal import WatchwordCryptography

/// A dummy credential for attempts on credentials that do not exist.
///
/// It is opened, checked, counted and written like a real one, so that the response time does
/// not reveal whether a credential exists (V-06).
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
            sealing: seed, algorithm: .sha1, digits: 6, period: 30, for: place, under: key)
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
        // The result is ignored: nobody has the key, and nothing is accepted.
        _ = try attempt.check(&record)
        _ = record.throttle.fail(at: attempt.context.now, limits: attempt.limits(of: record))
        return record.row
    }
}
