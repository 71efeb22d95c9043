internal import OneTimePassword

extension VaultChanges {
    /// Returns `content`, ready to replace the entry `id`.
    ///
    /// If both are HOTP with the same secret, the result has the greater of the two counters.
    ///
    /// A counter that went back would repeat codes that were already issued.
    public mutating func content(_ content: EntryContent, notBehind id: RecordID)
        throws(VaultError) -> EntryContent
    {
        guard case .oneTimePassword(let credential) = content,
            case .counter(let given) = credential.movingFactor,
            try entries(withSecretOf: content).contains(id)
        else { return content }
        guard case .oneTimePassword(let old) = try self.content(of: id),
            case .counter(let reached) = old.movingFactor, reached > given
        else { return content }
        return .oneTimePassword(try VaultChanges.moved(credential, to: reached))
    }
}
