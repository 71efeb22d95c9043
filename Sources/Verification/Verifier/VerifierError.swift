public import Cryptography

/// What keeps the verifier from deciding; nothing was accepted.
public enum VerifierError: Error, Sendable {
    /// The store could not do its work.
    case store(StoreFailure)
    /// OpenSSL could not do its work.
    case cryptography(CryptographyFailure)
    /// A row hangs on a key version that the ring does not have.
    case keyMissing(KeyID)
    /// A row does not open or can't be read: changed, swapped, or of a newer version.
    case damagedRow
    /// Others were faster, again and again.
    case contended
    /// Too many recovery codes are being checked.
    case overloaded
    /// A sender without an API key was denied too often in this minute; in so many seconds it is over.
    case tooManyDenials(retryAfter: Int)
    /// The answer that should be kept is longer than a row holds (``Policy/maximalAnswerCount``).
    case answerTooLong
    /// The request was answered before: give this answer again.
    case answered(RecordedAnswer)
}

/// An answer that was given before to a request with the same key.
public struct RecordedAnswer: Sendable {
    /// The digest of that request; when it is not this request's, the key was used for another.
    public let request: [UInt8]
    /// The answer, as the recorder made it; `nil` if it held secrets of a credential that came into use
    /// or ended since.
    public let answer: SecretBytes?
}

/// Makes the answer to a request, so that it is kept in the commit of the decision and given again
/// when the request comes again.
public struct Recorder<Outcome>: Sendable {
    /// A digest of who asks and of the key that came with the request: 32 bytes.
    public let key: [UInt8]
    /// A digest of the request.
    public let request: [UInt8]
    /// Writes the answer to an outcome, once for each time that it is decided; at most
    /// ``Policy/maximalAnswerCount`` bytes.
    public let answer: @Sendable (Outcome) -> SecretBytes

    /// Takes what is needed to keep an answer.
    public init(
        key: [UInt8], request: [UInt8], answer: @escaping @Sendable (Outcome) -> SecretBytes
    ) {
        self.key = key
        self.request = request
        self.answer = answer
    }
}
