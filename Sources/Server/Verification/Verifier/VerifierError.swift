public import WatchwordCryptography

/// Why the verifier could not decide, or why it refuses a value before it decides.
///
/// No code, secret or signature was accepted.
public enum VerifierError: Error, Equatable, Sendable {
    /// The store failed; a commit may have taken effect nevertheless.
    case store(StoreFailure)
    /// OpenSSL failed, for example because it ran out of memory.
    case cryptography(CryptographyFailure)
    /// A row uses a key version that the key ring does not have.
    case keyMissing(KeyID)
    /// A row does not open or is malformed: the row was changed, swapped, or written by a newer
    /// version.
    case damagedRow
    /// The decision lost too many races against other commits.
    case contended
    /// Too many recovery codes are being checked.
    case overloaded
    /// A sender without an API key was denied too often in this minute, and may retry after this
    /// many seconds.
    case tooManyDenials(retryAfter: Int)
    /// A sender without an API key has too many open challenges, and may retry after this many
    /// seconds.
    case tooManyChallenges(retryAfter: Int)
    /// The response to be recorded is longer than a row may be (``Policy/maximumAnswerCount``).
    case answerTooLong
    /// The request was already answered: return this response again.
    case answered(RecordedAnswer)
    /// The text is not a code: apart from spaces and dashes, it has neither 6 to 8 ASCII digits nor
    /// 16 Base32 characters.
    case malformedCode
    /// The standards do not allow an enrolment or an import.
    case enrolment(OneTimePasswordEnrolment.Fault)
    /// A TPM's structure, or its attestation of a device key, is refused.
    case attestation(VerifiedKeyAttestation.Fault)
    /// A key ring is invalid or cannot be changed.
    case keyRing(KeyRing.Fault)
    /// A value of a policy is out of range.
    case outOfRange(Policy.Value)
}

/// The recorded response to an earlier request with the same key.
public struct RecordedAnswer: Sendable {
    /// The digest of that request.
    ///
    /// If it differs from this request's digest, the key was reused for another request.
    public let request: [UInt8]
    /// The response that the recorder made; `nil` if it contained secrets of a credential that has
    /// since been activated or ended.
    public let answer: SecretBytes?
}

extension RecordedAnswer: Equatable {
    /// Compares the responses in constant time.
    public static func == (left: RecordedAnswer, right: RecordedAnswer) -> Bool {
        guard left.request == right.request else { return false }
        return switch (left.answer, right.answer) {
        case (let left?, let right?): left == right
        case (nil, nil): true
        case (nil, _), (_, nil): false
        }
    }
}

/// Produces the response to a request, so that it is recorded in the commit of the decision and
/// returned again if the request is repeated.
public struct Recorder<Outcome>: Sendable {
    /// A digest of the sender and of the request's idempotency key: 32 bytes.
    public let key: [UInt8]
    /// A digest of the request.
    public let request: [UInt8]
    /// Encodes the response to an outcome in at most ``Policy/maximumAnswerCount`` bytes.
    ///
    /// The closure is called once for each attempt to commit.
    public let answer: @Sendable (Outcome) -> SecretBytes

    /// Takes both digests and the encoder of the response.
    public init(
        key: [UInt8], request: [UInt8], answer: @escaping @Sendable (Outcome) -> SecretBytes
    ) {
        self.key = key
        self.request = request
        self.answer = answer
    }
}

extension VerifierError {
    /// Converts the failure of a call to the store.
    static func store<Result>(
        in call: @autoclosure () async throws(StoreFailure) -> Result
    ) async throws(VerifierError) -> Result {
        do { return try await call() } catch { throw .store(error) }
    }

    /// Converts the failure of a call to OpenSSL.
    package static func cryptography<Result>(
        in call: @autoclosure () throws(CryptographyFailure) -> Result
    ) throws(VerifierError) -> Result {
        do { return try call() } catch { throw .cryptography(error) }
    }

    /// Opens the sealed data of a row, and does not reveal why it does not open.
    static func opening<Result>(
        _ call: @autoclosure () throws(CryptographyError) -> Result
    ) throws(VerifierError) -> Result {
        do { return try call() } catch {
            guard case .failed(let failure) = error else { throw .damagedRow }
            throw .cryptography(failure)
        }
    }
}
