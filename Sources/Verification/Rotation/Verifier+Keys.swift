internal import Cryptography

/// What a rotation of keys came to.
public struct KeyRotation: Hashable, Sendable {
    /// How many rows were sealed under the current key.
    public let resealed: Int
    /// What hangs on other keys yet: enrolled secrets until they are used next, answers for a day.
    public let left: [KeyUsage]
}

extension Verifier {
    /// How much hangs on each key version.
    public func keyUsage() async throws(VerifierError) -> [KeyUsage] {
        try await read { store throws(StoreFailure) in try await store.keyUsage() }
    }

    /// Seals everything under the current key that another one seals, while the verifier is in use.
    ///
    /// It may be broken off at any moment and begun again.
    ///
    /// - Parameter batch: so many rows at once.
    public func rotateKeys(batch: Int = 64) async throws(VerifierError) -> KeyRotation {
        precondition(batch > 0, "a batch holds something")
        var resealed = 0
        let ring = await ring()
        for version in ring.versions where version.id != ring.current.id {
            var last: CredentialID?
            while true {
                let after = last
                let rows = try await read { store throws(StoreFailure) in
                    try await store.credentials(under: version.id, after: after, limit: batch)
                }
                guard let end = rows.last else { break }
                resealed += try await reseal(rows.filter { $0.kind.isSealed })
                last = end.id
            }
        }
        let left = try await keyUsage().filter { $0.keyID != ring.current.id }
        return KeyRotation(resealed: resealed, left: left)
    }

    /// Seals rows anew, together; one by one when one of them was used meanwhile.
    private func reseal(_ rows: [CredentialRow]) async throws(VerifierError) -> Int {
        guard !rows.isEmpty else { return 0 }
        let context = try await context(.unknown)
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
        for row in rows { done += try await resealAlone(row.id) }
        return done
    }

    private func resealAlone(_ id: CredentialID) async throws(VerifierError) -> Int {
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
    /// The record under the current key; nothing when nothing in it is sealed under another one.
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
                try deciding { () throws(CryptographyFailure) in
                    try RecoverySet(
                        sealing: hashes, salt: set.salt, logN: set.logN, for: place, under: new)
                })
        case .secret, .none: return nil
        }
        record.keyID = new.id
        return record
    }
}
