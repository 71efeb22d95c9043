import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCryptography

// The changes to an entry's tags, note, icon and favourite mark that the options request.
extension DetailsChange {
    static let options: [Option] = [.tag, .untag, .note, .icon, .favourite, .noFavourite]

    /// Parses the options; refuses a secret among them.
    init(_ session: Session) throws {
        let arguments = session.arguments
        let tags = arguments.values(of: .tag)
        for tag in tags {
            guard let form = SecretForm(inName: tag) else { continue }
            throw UsageError.secretAsOperand("--\(Option.tag.name)", form)
        }
        try arguments.forbid(.favourite, .noFavourite)
        let icon = arguments.given(.icon)
        if let icon, let form = SecretForm(inName: icon) {
            throw UsageError.secretAsOperand("--\(Option.icon.name)", form)
        }
        let note = try DetailsChange.note(session)
        let isFavourite =
            arguments.has(.favourite) ? true : arguments.has(.noFavourite) ? false : nil
        self.init(
            added: tags, removed: arguments.values(of: .untag), note: note, icon: icon,
            isFavourite: isFavourite)
    }

    private static func note(_ session: Session) throws -> String? {
        guard let text = session.arguments.given(.note) else { return nil }
        guard text != "-" else { return try noteFromStandardInput() }
        for word in text.split(whereSeparator: \.isWhitespace) {
            guard let form = SecretForm(inURI: String(word)) else { continue }
            throw UsageError.secretAsOperand("--\(Option.note.name)", form)
        }
        return text
    }

    private static func noteFromStandardInput() throws -> String {
        let source = SecretSource("-")
        let bytes = try source.read(limit: EntryDetails.longestNote + 1).withoutLastLineEnd()
        let text = bytes.withBytes { bytes in
            String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        guard let text else {
            throw UsageError.badValue(Option.note.name, expected: "text in UTF-8")
        }
        return text
    }
}

// The changes to an entry's codes and secret that the options request.
extension CodeChange {
    /// The options that request such changes.
    static let options: [Option] = [.algorithm, .digits, .period, .counter, .secretFile]

    /// Parses `--algorithm`, `--digits`, `--period` and `--counter`; the secret is read later, by
    /// ``readSecret(for:_:)``.
    init(_ session: Session) throws {
        let arguments = session.arguments
        var length: CodeLength?
        if arguments.has(.digits), case .decimal(let given) = try session.style() { length = given }
        self.init(
            algorithm: arguments.has(.algorithm) ? try session.algorithm() : nil, length: length,
            period: arguments.has(.period) ? try session.timeStep().period : nil,
            counter: arguments.has(.counter) ? try session.counter() : nil)
    }

    /// Reads the new secret if `--secret-file` is given.
    mutating func readSecret(for kind: EntryKind, _ session: Session) throws {
        guard session.arguments.has(.secretFile) else { return }
        secret = kind == .secret ? try session.plainSecret() : try session.key()
    }
}
