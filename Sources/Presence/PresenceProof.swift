/// That the person was here a moment ago: made by a ``PresenceCheck`` that said yes, spent by the call
/// it is handed to.
///
/// It can't be copied, stored in a collection, or made by hand, so one yes opens one thing. What the
/// compiler can't refuse, keeping it in an object of one's own, gains nothing: it is soon worth nothing.
public struct PresenceProof<Grade: PresenceGrade>: ~Copyable, Sendable {
    private let purpose: PresencePurpose
    private let expiry: Duration

    // For ``PresenceCheck/prove(for:lasting:now:)`` alone.
    init(of purpose: PresencePurpose, until expiry: Duration) {
        self.purpose = purpose
        self.expiry = expiry
    }

    /// Uses the proof up, whatever comes of it.
    ///
    /// - Parameters:
    ///   - purpose: The very purpose that it was made for.
    ///   - now: When it is spent, by the clock that told when it was made.
    /// - Throws: ``PresenceProofError``.
    public consuming func spend(
        on purpose: PresencePurpose, now: Duration
    ) throws(PresenceProofError) {
        guard purpose === self.purpose else { throw .otherPurpose }
        guard now < expiry else { throw .expired }
    }
}

/// Why a proof is worth nothing where it is spent.
public enum PresenceProofError: Error, Hashable, Sendable {
    /// Its time is over.
    case expired
    /// It was made for something else, or for an earlier question about the same thing.
    case otherPurpose
}
