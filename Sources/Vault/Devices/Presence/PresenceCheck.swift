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
    /// Asks the user, and creates a proof if the user passes the check.
    ///
    /// Nothing else creates a proof.
    ///
    /// - Parameters:
    ///   - purpose: the only purpose of the proof.
    ///   - lifetime: how long the proof is valid after the answer.
    ///   - now: the time of the answer, by a clock that cannot be set and that continues during
    ///     system sleep; evaluated after the answer.
    /// - Returns: `nil` if the user does not pass the check.
    public mutating func prove(
        for purpose: PresencePurpose, lasting lifetime: Duration = .seconds(30),
        now: @autoclosure () -> Duration
    ) throws(Failure) -> PresenceProof<Grade>? {
        guard try isPresent(for: purpose.words) else { return nil }
        return PresenceProof(of: purpose, until: now() + lifetime)
    }
}

/// A proof that the user was recently present, created by a successful ``PresenceCheck`` and
/// consumed by the call that it is passed to.
///
/// It cannot be copied, stored in a collection or created directly, so one check permits one
/// action. The compiler does not prevent storing it in an object, but that gains nothing, because
/// it soon expires.
public struct PresenceProof<Grade: PresenceGrade>: ~Copyable, Sendable {
    private let purpose: PresencePurpose
    private let expiry: Duration

    // Called only by ``PresenceCheck/prove(for:lasting:now:)``.
    init(of purpose: PresencePurpose, until expiry: Duration) {
        self.purpose = purpose
        self.expiry = expiry
    }

    /// Consumes the proof, even if it is refused.
    ///
    /// - Parameters:
    ///   - purpose: the purpose that it was created for.
    ///   - now: the current time, by the same clock as when it was created.
    /// - Returns: why the proof is refused; `nil` if it is valid.
    public consuming func spend(
        on purpose: PresencePurpose, now: Duration
    ) -> PresenceProofRefusal? {
        guard purpose === self.purpose else { return .otherPurpose }
        return now < expiry ? nil : .expired
    }
}

/// Why a proof was refused.
public enum PresenceProofRefusal: CaseIterable, Hashable, Sendable {
    /// The proof has expired.
    case expired
    /// The proof was created for a different purpose, or for an earlier check with the same
    /// purpose.
    case otherPurpose
}

/// The purpose of a presence check, which identifies the proofs that are created for it.
///
/// Two purposes with the same text are different: a proof can be spent only with the instance that
/// it was created for, and does not reveal that instance. Code that protects something therefore
/// creates a purpose, keeps it private, and accepts only proofs for it. If it discards the purpose
/// after use, no second proof can be spent.
public final class PresencePurpose: Sendable {
    /// The purpose as shown to the user.
    public let words: String

    /// Starts a purpose for which no proof exists yet.
    public init(_ words: String) { self.words = words }
}

/// The strength of a presence check, which is part of each proof's type.
///
/// Code that needs a factor that yields the key requires a `PresenceProof<Cryptographic>`. A
/// program that passes an advisory proof to it does not compile.
public protocol PresenceGrade: Sendable {
    /// The grade's name for display.
    static var name: String { get }
}

/// The factor yields the key: nothing can be opened without it.
public enum Cryptographic: PresenceGrade {
    /// The grade's name for display.
    public static let name = "cryptographic"
}

/// The system decides, in a process of another user, and only that process can reach the key.
public enum Enforced: PresenceGrade {
    /// The grade's name for display.
    public static let name = "enforced"
}

/// The system decides; anyone who controls the system can override it.
public enum Advisory: PresenceGrade {
    /// The grade's name for display.
    public static let name = "advisory"
}
