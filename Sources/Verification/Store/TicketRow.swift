/// A ticket that can be spent once, as a store keeps it: by its digest alone.
public struct TicketRow: Hashable, Sendable {
    /// What a ticket is good for.
    public enum Purpose: String, CaseIterable, Hashable, Sendable {
        /// A device may fetch its secret with it.
        case enrolment
        /// The application may learn with it who signed in.
        case login
    }

    /// The primary key: 32 bytes, keyed, of the ticket.
    public let digest: [UInt8]
    /// What it is good for.
    public let purpose: Purpose
    /// The credential that it was made for; indexed, so that revoking can drop it.
    public let credential: CredentialID
    /// Whose credential that is.
    public let subject: Subject
    /// The decision that it was made by.
    public let verification: VerificationID
    /// When that decision was made.
    public let createdAt: UnixTime
    /// From when on it is worth nothing, and may be pruned.
    public let expiresAt: UnixTime

    /// Puts a row together, as a store does that has read one.
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
