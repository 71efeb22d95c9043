/// The purpose of a presence check, which identifies the proofs that are created for it.
///
/// Two purposes with the same text are different: a proof can be spent only with the instance that
/// it was created for, and does not reveal that instance. So code that protects something creates a
/// purpose, keeps it private, and accepts only proofs for it. If it discards the purpose after use,
/// no second proof can be spent.
public final class PresencePurpose: Sendable {
    /// The purpose as shown to the user.
    public let words: String

    /// Creates a purpose without any proofs.
    public init(_ words: String) { self.words = words }
}
