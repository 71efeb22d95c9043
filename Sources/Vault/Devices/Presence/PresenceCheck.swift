/// A way to check whether the user is present.
public protocol PresenceCheck<Grade> {
    /// The strength of this check.
    associatedtype Grade: PresenceGrade
    /// Why the check could not decide; `Never` if it always can.
    associatedtype Failure: PresenceFailure

    /// Asks the user once; `purpose` is the text that the user sees.
    mutating func isPresent(for purpose: String) throws(Failure) -> Bool
}

/// Why a check could not decide.
public protocol PresenceFailure: Error {
    /// Whether the failure may conceal an attempt whose result somebody has learned.
    ///
    /// Code that counts failed attempts must also count this failure. Otherwise an attacker could
    /// abort each attempt before it is refused.
    var mayConcealAttempt: Bool { get }
}

extension Never: PresenceFailure {
    /// This failure cannot occur.
    public var mayConcealAttempt: Bool { switch self {} }
}

extension PresenceCheck {
    /// Asks the user, and creates a proof if the user confirms; there is no other way to get one.
    ///
    /// - Parameters:
    ///   - purpose: the only purpose of the proof.
    ///   - lifetime: how long the proof is valid after the answer.
    ///   - now: the time of the answer, by a clock that cannot be set and that continues during
    ///     system sleep; evaluated after the answer.
    /// - Returns: `nil` if the user does not confirm.
    public mutating func prove(
        for purpose: PresencePurpose, lasting lifetime: Duration = .seconds(30),
        now: @autoclosure () -> Duration
    ) throws(Failure) -> PresenceProof<Grade>? {
        guard try isPresent(for: purpose.words) else { return nil }
        return PresenceProof(of: purpose, until: now() + lifetime)
    }
}
