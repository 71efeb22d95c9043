/// An open authentication ceremony, as stored, which is valid for one decision.
///
/// A challenge is a row, and not a signed token with a list of spent tokens, because a missing row
/// leads to a denial. If a row is pruned too early, a commit is lost or strangers have too many
/// rows (``ChallengeRegister``), the ceremony has to be repeated; a lost entry in a list of spent
/// tokens would permit the replay of a recorded response.
public struct ChallengeRow: Hashable, Sendable {
    /// The permitted use of a challenge.
    public enum Purpose: String, CaseIterable, Hashable, Sendable {
        /// A passkey signs in with the challenge.
        case assertion
        /// A device key signs in with the challenge.
        case signIn = "sign-in"
        /// A device key confirms displayed text with the challenge.
        case confirm
    }

    /// The primary key: the keyed digest of the token that identifies the ceremony, 32 bytes.
    public let digest: [UInt8]
    /// The permitted use of the challenge.
    public let purpose: Purpose
    /// The subject that must answer; `nil` if the answer identifies the subject.
    public let subject: Subject?
    /// The credential that must answer; `nil` if any credential may answer.
    public let credential: CredentialID?
    /// All other data, in Verification's own versioned encoding; at most ``maximumBodyCount``
    /// bytes.
    public let body: [UInt8]
    /// The time at which the ceremony began.
    public let createdAt: UnixTime
    /// The time from which the challenge is invalid and may be pruned; indexed.
    public let expiresAt: UnixTime

    /// The maximum length of a body in bytes.
    public static let maximumBodyCount = 4_096

    /// Takes the stored columns, without any check.
    public init(
        digest: [UInt8], purpose: Purpose, subject: Subject?, credential: CredentialID?,
        body: [UInt8], createdAt: UnixTime, expiresAt: UnixTime
    ) {
        self.digest = digest
        self.purpose = purpose
        self.subject = subject
        self.credential = credential
        self.body = body
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

extension ChallengeRow: ColumnRow {
    /// The name of the table of challenges.
    public static let table = "challenges"

    package static let step = 2

    package static let columns: [Column<ChallengeRow>] = [
        Column("digest") { $0.digest },
        Column("purpose") { $0.purpose },
        Column("subject") { $0.subject },
        Column("credential") { $0.credential },
        Column("body") { $0.body },
        Column("created_at") { $0.createdAt },
        Column("expires_at") { $0.expiresAt },
    ]

    package init(reading row: inout RowReader) throws(StoreFailure) {
        self.init(
            digest: try row.read(), purpose: try row.read(), subject: try row.read(),
            credential: try row.read(), body: try row.read(), createdAt: try row.read(),
            expiresAt: try row.read())
    }

    /// The primary key as stored bytes.
    public var primaryKey: [UInt8] { digest }
}
