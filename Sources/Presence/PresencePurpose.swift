/// What somebody must be present for, and the one key to the proofs that are made for it.
///
/// Two purposes of the same words are two purposes: a proof can be spent by nobody but the holder of
/// the very value that it was made for, and it does not give that value away. So whoever guards something
/// makes a purpose, keeps it to himself, and takes no proof but the one he asked for. A purpose that he
/// forgets once a proof was spent on it takes no second one.
public final class PresencePurpose: Sendable {
    /// What for, in words for the person.
    public let words: String

    /// A new purpose, which no proof is for yet.
    public init(_ words: String) { self.words = words }
}
