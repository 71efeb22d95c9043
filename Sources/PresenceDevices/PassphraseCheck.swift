internal import POSIX
public import Presence

/// Asks for the passphrase, and lets the one who can tell try what it opens.
public struct PassphraseCheck<TrialFailure: Error>: PresenceCheck {
    /// The passphrase yields the key.
    public typealias Grade = Cryptographic

    private let source: PassphraseSource
    private let opens: (Span<UInt8>) throws(TrialFailure) -> Bool

    /// A check of the passphrase that comes from `source`.
    ///
    /// - Parameter opens: Tries a passphrase, which it is lent, and tells whether it is the right one.
    public init(
        from source: PassphraseSource, opens: @escaping (Span<UInt8>) throws(TrialFailure) -> Bool
    ) {
        self.source = source
        self.opens = opens
    }

    /// Asks once, and tries the answer.
    public func isPresent(for purpose: String) throws(PassphraseCheckFailure<TrialFailure>) -> Bool
    {
        let passphrase: WipedBuffer
        do { passphrase = try source.read(for: purpose) } catch { throw .source(error) }
        do throws(TrialFailure) {
            return try passphrase.withBytes(opens)
        } catch {
            throw .trial(error)
        }
    }
}

/// Why a passphrase was not found to be right or wrong.
public enum PassphraseCheckFailure<TrialFailure: Error>: PresenceFailure {
    /// There is none.
    case source(PassphraseSourceError)
    /// It could not be tried.
    case trial(TrialFailure)

    /// Nothing was learned of the passphrase: it was not tried.
    public var mayHideAttempt: Bool { false }
}

extension PassphraseCheckFailure: Equatable where TrialFailure: Equatable {}
extension PassphraseCheckFailure: Hashable where TrialFailure: Hashable {}
