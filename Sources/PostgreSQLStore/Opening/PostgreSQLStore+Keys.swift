public import Verification

extension PostgreSQLStore {
    /// Tells the database which key has which number, and learns which have others.
    ///
    /// Two machines that make a key of their own each would give it the same number, and a digest that
    /// one of them keyed would be wrong to the other. So the first one that names a key is right, and
    /// who has another one by that number must not use it.
    ///
    /// - Parameter fingerprints: what tells two keys apart; see ``KeyVersion/fingerprint``.
    /// - Returns: the numbers under which somebody else has another key.
    public func claim(
        _ fingerprints: [KeyID: [UInt8]]
    ) throws(PostgreSQLStoreError) -> Set<KeyID> {
        do throws(PostgreSQLFailure) {
            let session = try PostgreSQLSession(
                address, [.claimKeys, .knownHeads], timeout: timeout, known: known)
            let wanted = fingerprints.sorted { $0.key < $1.key }
            var arguments = StatementArguments()
            arguments.add(wanted, integer: { Int64($0.key.number) })
            arguments.add(wanted) { $0.value }
            let claimed = try session.run(.claimKeys, arguments)
                .all { row throws(PostgreSQLFailure) in
                    (try row.value(row.keyID()), try row.requiredBytes())
                }
            return Set(claimed.filter { fingerprints[$0.0] != $0.1 }.map(\.0))
        } catch {
            throw PostgreSQLStoreError(error)
        }
    }
}
