internal import Cryptography

/// A credential that nobody has, for attempts on what is not there.
///
/// It is read, opened, checked, counted against and written as a real one would be, so that the time
/// of a refusal does not tell whether there was a credential (V-06).
struct StandIn: Sendable {
    /// As a store would give it.
    let row: CredentialRow

    init(under key: KeyVersion) throws(CryptographyFailure) {
        let nothing = [UInt8](repeating: 0, count: CredentialID.count)
        guard let id = CredentialID(bytes: nothing), let subject = Subject("nobody") else {
            preconditionFailure("any sixteen bytes are an id, and a word is a subject")
        }
        let place = SealedPlace(id: id, subject: subject, kind: .totp)
        let seed = SecretBytes(
            copying: [UInt8](repeating: 0, count: HashAlgorithm.sha1.digestCount).span)
        let sealed = try SealedSeed(
            sealing: seed, algorithm: .sha1, digits: 6, period: 30, for: place, under: key)
        var record = CredentialRecord(
            id: id, subject: subject, kind: .totp, createdAt: UnixTime(seconds: 0),
            origin: .unknown, state: .active, keyID: key.id, name: "",
            material: .time(TimePassword(seed: sealed)))
        record.confirmedAt = record.createdAt
        record.lastUsedAt = record.createdAt
        row = record.row
    }

    /// Does with `attempt` what is done with a wrong code, and gives the row that it would come to.
    func refuse(_ attempt: CodeAttempt) throws(VerifierError) -> CredentialRow {
        var record = try CredentialRecord(row)
        // Whatever the finding: nobody has the key, and nothing is accepted by it.
        _ = try attempt.check(&record)
        _ = record.throttle.fail(at: attempt.context.now, policy: attempt.context.policy)
        return record.row
    }
}
