public import Verification

extension PostgreSQLVerificationStore {
    /// Registers the fingerprints of this process's keys, and returns the numbers that belong to
    /// other keys.
    ///
    /// Two machines that each create a key would give both keys the same number, and a digest keyed
    /// on one machine would be wrong on the other. The first key registered under a number
    /// therefore owns the number, and a machine whose key with this number is different must not
    /// use its key.
    ///
    /// - Parameter fingerprints: identify the keys; see ``KeyVersion/fingerprint``.
    /// - Returns: the numbers under which another machine registered a different key.
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
