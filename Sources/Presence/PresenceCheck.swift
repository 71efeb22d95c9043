/// A way to ask whether the person is here.
public protocol PresenceCheck<Grade> {
    /// How much a yes of this check is worth.
    associatedtype Grade: PresenceGrade
    /// Why no answer could be had; `Never` for a check that always answers.
    associatedtype Failure: PresenceFailure

    /// Asks once; `purpose` says for what, in words for the person.
    mutating func isPresent(for purpose: String) throws(Failure) -> Bool
}

/// Why a check had no answer.
public protocol PresenceFailure: Error {
    /// Whether somebody may have tried something, and learned from how it went, before it came to nothing.
    ///
    /// Who counts failures counts this as one: else a guesser would break off each time before the no.
    var mayHideAttempt: Bool { get }
}

extension Never: PresenceFailure {
    /// There is no such failure.
    public var mayHideAttempt: Bool { switch self {} }
}

extension PresenceCheck {
    /// Asks, and makes the proof when the answer is yes; there is no other way to one.
    ///
    /// - Parameters:
    ///   - purpose: What the proof is for, and for nothing else.
    ///   - lifetime: How long after the answer it can be spent.
    ///   - now: The moment of the answer, by a clock that nobody sets and that goes on while the machine
    ///     sleeps; it is asked for once the answer has come.
    /// - Returns: `nil` when the answer is no.
    public mutating func prove(
        for purpose: PresencePurpose, lasting lifetime: Duration = .seconds(30),
        now: @autoclosure () -> Duration
    ) throws(Failure) -> PresenceProof<Grade>? {
        guard try isPresent(for: purpose.words) else { return nil }
        return PresenceProof(of: purpose, until: now() + lifetime)
    }
}
