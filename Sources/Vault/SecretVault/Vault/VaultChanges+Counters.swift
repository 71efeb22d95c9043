internal import OneTimePassword

// The counters of HOTP entries, which never go back.
extension VaultChanges {
    /// Increments the counter of an HOTP entry.
    ///
    /// - Returns: the entry as it was, with the counter that is now spent.
    public mutating func advanceCounter(of id: RecordID) throws(VaultError) -> EntryContent {
        let content = try content(of: id)
        guard case .oneTimePassword(let credential) = content,
            case .counter(let counter) = credential.movingFactor
        else { throw .otherKind }
        guard counter < .max else { throw .counterExhausted }
        try advance(id, to: .oneTimePassword(credential.moved(to: counter + 1)))
        return content
    }

    /// Raises the counter of an HOTP entry; a lower value changes nothing.
    public mutating func raiseCounter(of id: RecordID, to counter: UInt64) throws(VaultError) {
        guard case .oneTimePassword(let credential) = try content(of: id),
            case .counter(let reached) = credential.movingFactor
        else { throw .otherKind }
        guard counter > reached else { return }
        try advance(id, to: .oneTimePassword(credential.moved(to: counter)))
    }

    /// Returns `content`, ready to replace the entry `id`.
    ///
    /// If both are HOTP with the same secret, the result has the greater of the two counters.
    ///
    /// A lower counter would repeat codes that were already issued.
    public func content(_ content: EntryContent, notBehind id: RecordID)
        throws(VaultError) -> EntryContent
    {
        guard case .oneTimePassword(let credential) = content,
            case .counter(let given) = credential.movingFactor,
            try state.records[try state.index(of: id)].listed.fingerprint
                == key.fingerprint(of: content.payload)
        else { return content }
        guard case .oneTimePassword(let old) = try self.content(of: id),
            case .counter(let reached) = old.movingFactor, reached > given
        else { return content }
        return .oneTimePassword(credential.moved(to: reached))
    }
}
