/// A ticket that can be spent once, as stored: only its digest.
public struct TicketRow: Hashable, Sendable {
    /// The purpose of a ticket.
    public enum Purpose: String, CaseIterable, Hashable, Sendable {
        /// Lets a device fetch its secret.
        case enrolment
        /// Tells the application who signed in.
        case login
    }

    /// The primary key: the keyed digest of the ticket, 32 bytes.
    public let digest: [UInt8]
    /// The purpose for which the ticket was issued.
    public let purpose: Purpose
    /// The credential for which the ticket was issued; indexed, so that a revocation can delete the
    /// ticket.
    public let credential: CredentialID
    /// The subject that owns the credential.
    public let subject: Subject
    /// The id of the decision that issued the ticket.
    public let verification: VerificationID
    /// The time of that decision.
    public let createdAt: UnixTime
    /// The time from which the ticket is invalid and may be pruned.
    public let expiresAt: UnixTime

    /// Takes the stored columns, without any check.
    public init(
        digest: [UInt8], purpose: Purpose, credential: CredentialID, subject: Subject,
        verification: VerificationID, createdAt: UnixTime, expiresAt: UnixTime
    ) {
        self.digest = digest
        self.purpose = purpose
        self.credential = credential
        self.subject = subject
        self.verification = verification
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

extension TicketRow: ColumnRow {
    /// The name of the table of tickets.
    public static let table = "tickets"

    package static let columns: [Column<TicketRow>] = [
        Column("digest") { $0.digest },
        Column("purpose") { $0.purpose },
        Column("credential") { $0.credential },
        Column("subject") { $0.subject },
        Column("verification") { $0.verification },
        Column("created_at") { $0.createdAt },
        Column("expires_at") { $0.expiresAt },
    ]

    package init(reading row: inout RowReader) throws(StoreFailure) {
        self.init(
            digest: try row.read(), purpose: try row.read(), credential: try row.read(),
            subject: try row.read(), verification: try row.read(), createdAt: try row.read(),
            expiresAt: try row.read())
    }

    /// The primary key as stored bytes.
    public var primaryKey: [UInt8] { digest }
}
