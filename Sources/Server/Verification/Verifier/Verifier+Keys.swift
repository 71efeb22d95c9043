internal import WatchwordCryptography

/// The result of a key rotation.
public struct KeyRotation: Hashable, Sendable {
    /// The number of rows sealed under the current key.
    public let resealed: Int
    /// The rows that still use other keys: enrolled secrets until their next login, and recorded
    /// responses for a day.
    public let left: [KeyUsage]
}

extension Verifier {
    /// The number of rows that use each key version.
    public func keyUsage() async throws(VerifierError) -> [KeyUsage] {
        try await VerifierError.store(in: await store.keyUsage())
    }

    /// Up to `limit` credentials that use a key version, in the order of their ids, after `last`.
    public func credentials(
        under id: KeyID, after last: CredentialID?, limit: Int
    ) async throws(VerifierError) -> [CredentialRow] {
        try await VerifierError.store(
            in: await store.credentials(.under(id, after: last), limit: limit))
    }

    /// Reseals all data under the current key; the verifier can stay in use.
    ///
    /// The rotation can be interrupted at any time and started again.
    ///
    /// - Parameter batch: the number of rows per commit.
    public func rotateKeys(batch: Int = 64) async throws(VerifierError) -> KeyRotation {
        precondition(batch > 0, "a batch must not be empty")
        var resealed = 0
        let ring = await ring()
        for version in ring.versions where version.id != ring.current.id {
            var last: CredentialID?
            while true {
                let rows = try await credentials(under: version.id, after: last, limit: batch)
                guard let end = rows.last else { break }
                resealed += try await reseal(rows.filter { $0.kind.isSealed })
                last = end.id
            }
        }
        let left = try await keyUsage().filter { $0.keyID != ring.current.id }
        return KeyRotation(resealed: resealed, left: left)
    }

    /// Reseals rows in one commit, or separately if one of them was changed in the meantime.
    private func reseal(_ rows: [CredentialRow]) async throws(VerifierError) -> Int {
        guard !rows.isEmpty else { return 0 }
        let context = await context(.unknown)
        var changes: [StoreChange] = []
        for row in rows {
            guard let record = try CredentialRecord(row).resealed(context) else { continue }
            changes.append(.updateCredential(record.row))
        }
        let count = changes.count
        guard count > 0 else { return 0 }
        changes.append(context.event(.keysRotated, subject: nil, number: Int64(count)))
        if try await commit(changes) == .done { return count }
        var done = 0
        for row in rows { done += try await resealOne(row.id) }
        return done
    }

    private func resealOne(_ id: CredentialID) async throws(VerifierError) -> Int {
        try await decide(.unknown, recorder: nil) { context throws(VerifierError) in
            guard let record = try await record(id), let resealed = try record.resealed(context)
            else { return Decision(outcome: 0, changes: []) }
            return Decision(
                outcome: 1,
                changes: [
                    .updateCredential(resealed.row),
                    context.event(.keysRotated, subject: nil, number: 1),
                ])
        }
    }
}

extension CredentialRecord {
    /// The record sealed under the current key; `nil` if all of its data is already sealed under
    /// this key.
    func resealed(_ context: DecisionContext) throws(VerifierError) -> CredentialRecord? {
        let new = context.keys.current
        guard let keyID, keyID != new.id else { return nil }
        let old = try context.key(keyID)
        var record = self
        switch material {
        case .time(var password):
            password.seed = try password.seed.resealed(for: place, from: old, to: new)
            record.material = .time(password)
        case .counter(var password):
            password.seed = try password.seed.resealed(for: place, from: old, to: new)
            record.material = .counter(password)
        case .recovery(let set):
            let hashes = try set.open(for: place, under: old)
            record.material = .recovery(
                RecoverySet(
                    sealing: hashes, salt: set.salt, logN: set.logN, for: place, under: new))
        case .passkey(let passkey):
            record.material = .passkey(try passkey.resealed(for: place, from: old, to: new))
        case .deviceKey(let key):
            record.material = .deviceKey(try key.resealed(for: place, from: old, to: new))
        case .secret, .pendingPasskey, .pendingDeviceKey, .none: return nil
        }
        record.keyID = new.id
        return record
    }
}
