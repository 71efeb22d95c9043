/// One credential as a store keeps it.
///
/// A store looks at the columns and never into ``body``. Nothing in a row is a secret in clear:
/// seeds are sealed under a key that is kept outside the database, digests are keyed with one.
public struct CredentialRow: Hashable, Sendable {
    /// The primary key.
    public let id: CredentialID
    /// Whose credential it is; indexed.
    public let subject: Subject
    /// What kind it is.
    public let kind: CredentialKind
    /// How far its life has come.
    public let state: CredentialState
    /// 1 when it is inserted, one more at each update; fits 63 bits.
    public let version: UInt64
    /// The key version that seals ``body``'s seed or keys its digests; nothing when neither is left.
    public let keyID: KeyID?
    /// The blind index of what there may be one of: 32 bytes, unique in the table where it is given.
    ///
    /// That of a seed (RFC 6238, section 3, R5) stays when a credential ends: a seed that was ever in use
    /// never comes back. That of a subject's set of recovery codes goes with the set.
    public let fingerprint: [UInt8]?
    /// When it was made; a subject's rows are listed by it.
    public let createdAt: UnixTime
    /// From when on a pending row may be pruned; nothing for others.
    public let lapsesAt: UnixTime?
    /// All the rest, in a versioned encoding of Verification's own; under 64 KiB.
    public let body: [UInt8]

    /// Puts a row together, as a store does that has read one.
    public init(
        id: CredentialID, subject: Subject, kind: CredentialKind, state: CredentialState,
        version: UInt64, keyID: KeyID?, fingerprint: [UInt8]?, createdAt: UnixTime,
        lapsesAt: UnixTime?, body: [UInt8]
    ) {
        self.id = id
        self.subject = subject
        self.kind = kind
        self.state = state
        self.version = version
        self.keyID = keyID
        self.fingerprint = fingerprint
        self.createdAt = createdAt
        self.lapsesAt = lapsesAt
        self.body = body
    }
}
