/// That the person was here a moment ago: made by a ``PresenceCheck`` that said yes, spent by the call
/// it is handed to.
///
/// It can't be copied, stored in a collection or made by hand, so one yes opens one thing.
public struct PresenceProof: ~Copyable, Sendable {
    /// How much the check behind it is worth.
    public let grade: PresenceGrade

    fileprivate init(grade: PresenceGrade) { self.grade = grade }
}

/// A way to ask whether the person is here.
public protocol PresenceCheck {
    /// Why no answer could be had; ``Never`` for a check that always answers.
    associatedtype Failure: Error

    /// How much a yes of this check is worth.
    var grade: PresenceGrade { get }

    /// Asks once; `purpose` says for what, in words for the person.
    mutating func isPresent(for purpose: String) throws(Failure) -> Bool
}

extension PresenceCheck {
    /// Asks, and makes the proof when the answer is yes; there is no other way to one.
    ///
    /// - Returns: `nil` when the answer is no.
    public mutating func prove(for purpose: String) throws(Failure) -> PresenceProof? {
        guard try isPresent(for: purpose) else { return nil }
        return PresenceProof(grade: grade)
    }
}
