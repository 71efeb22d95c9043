internal import OneTimePassword

extension VaultChanges {
    /// `content` as it may take the place of the entry `id`: where both count with the same secret, with
    /// the counter that is further on.
    ///
    /// A counter that goes back makes codes that were handed out before.
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
