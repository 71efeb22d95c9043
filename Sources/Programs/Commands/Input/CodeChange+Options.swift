import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCryptography

// The changes to an entry's codes and secret that the options request.
extension CodeChange {
    /// The options that request such changes.
    static let options: [Option] = [.algorithm, .digits, .period, .counter, .secretFile]

    /// Parses `--algorithm`, `--digits`, `--period` and `--counter`; the secret is read later, by
    /// ``readSecret(for:_:)``.
    init(_ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        var length: CodeLength?
        if arguments.has(.digits), case .decimal(let given) = try session.style() { length = given }
        self.init(
            algorithm: arguments.has(.algorithm) ? try session.algorithm() : nil, length: length,
            period: arguments.has(.period) ? try session.timeStep().period : nil,
            counter: arguments.has(.counter) ? try session.counter() : nil)
    }

    /// Reads the new secret if `--secret-file` is given.
    mutating func readSecret(for kind: EntryKind, _ session: Session) throws(CommandFailure) {
        guard session.arguments.has(.secretFile) else { return }
        secret = kind == .secret ? try session.plainSecret() : try session.key()
    }
}
