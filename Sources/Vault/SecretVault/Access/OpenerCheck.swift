public import Devices
internal import WatchwordCryptography

/// Checks presence with a passphrase or a recovery key.
///
/// The caller asks for the passphrase first: a user who cancels at the prompt has made no attempt,
/// and nothing is counted.
public struct OpenerCheck: PresenceCheck {
    /// The passphrase or recovery key yields the vault key.
    public typealias Grade = Cryptographic

    /// Why the check has no result.
    public struct Failure: PresenceFailure, Hashable {
        /// The underlying error.
        public let reason: VaultError
        /// Whether a slot rejected the guess before the error, which reveals something to an
        /// attacker.
        public let mayConcealAttempt: Bool
    }

    private let opener: VaultOpener
    private let vault: UnlockedVault

    /// Whether it tries a passphrase, which somebody may guess.
    var isGuess: Bool { if case .passphrase = opener { true } else { false } }

    /// Creates a check that passes if `opener` opens `vault`.
    public init(_ opener: VaultOpener, of vault: UnlockedVault) {
        self.opener = opener
        self.vault = vault
    }

    /// Makes one attempt.
    public func isPresent(for purpose: String) throws(Failure) -> Bool {
        try vault.isOpened(by: opener)
    }
}

extension UnlockedVault {
    /// Whether the passphrase or recovery key opens this vault; used by ``OpenerCheck``.
    ///
    /// Counts nothing: ``prove(_:for:words:reading:now:)`` counts the attempt.
    func isOpened(by opener: VaultOpener) throws(OpenerCheck.Failure) -> Bool {
        var mayConcealAttempt = false
        do throws(VaultError) {
            guard opener.provesPresence else { throw .presenceNeeded }
            let document = try VaultDocument(parsing: location.read())
            guard document.vaultID == key.vaultID else { throw .replaced }
            let outcome = document.outcome(of: opener, ceiling: ceiling)
            if case .refused = outcome { return false }
            if case .undecided = outcome { mayConcealAttempt = true }
            let isSame = try outcome.get().key.isEqual(to: key)
            guard isSame || !state.isRekeyed(in: document) else { throw .rekeyed }
            return isSame
        } catch {
            throw OpenerCheck.Failure(reason: error, mayConcealAttempt: mayConcealAttempt)
        }
    }
}
