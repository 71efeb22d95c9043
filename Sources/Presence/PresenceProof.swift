/// A proof that the user was recently present, created by a successful ``PresenceCheck`` and
/// consumed by the call that it is passed to.
///
/// It cannot be copied, stored in a collection or created directly, so one confirmation permits one
/// action. The compiler does not prevent storing it in an object, but that gains nothing, because
/// it soon expires.
public struct PresenceProof<Grade: PresenceGrade>: ~Copyable, Sendable {
    private let purpose: PresencePurpose
    private let expiry: Duration

    // Only for ``PresenceCheck/prove(for:lasting:now:)``.
    init(of purpose: PresencePurpose, until expiry: Duration) {
        self.purpose = purpose
        self.expiry = expiry
    }

    /// Consumes the proof, even if it is refused.
    ///
    /// - Parameters:
    ///   - purpose: the purpose that it was created for.
    ///   - now: the current time, by the same clock as when it was created.
    /// - Throws: ``PresenceProofError``.
    public consuming func spend(
        on purpose: PresencePurpose, now: Duration
    ) throws(PresenceProofError) {
        guard purpose === self.purpose else { throw .otherPurpose }
        guard now < expiry else { throw .expired }
    }
}

/// Why a proof was refused.
public enum PresenceProofError: Error, Hashable, Sendable {
    /// The proof has expired.
    case expired
    /// It was created for another purpose, or for an earlier question about the same one.
    case otherPurpose
}
