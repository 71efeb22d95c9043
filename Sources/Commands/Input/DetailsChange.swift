import Arguments
import Cryptography
import OneTimePassword
import SecretVault

/// The changes to an entry's tags and note that the options request.
struct DetailsChange {
    private let added: [String]
    private let removed: [String]
    private let note: String?

    static let options: [Option] = [.tag, .untag, .note]

    /// Parses `--tag`, `--untag` and `--note`; refuses a secret among them.
    init(_ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        added = arguments.values(of: .tag)
        removed = arguments.values(of: .untag)
        for tag in added {
            guard let form = SecretForm(inName: tag) else { continue }
            throw .usage(.secretAsOperand("--\(Option.tag.name)", form))
        }
        guard let text = arguments.given(.note) else {
            note = nil
            return
        }
        if text == "-" {
            note = try DetailsChange.noteFromStandardInput()
            return
        }
        for word in text.split(whereSeparator: \.isWhitespace) {
            guard let form = SecretForm(inURI: String(word)) else { continue }
            throw .usage(.secretAsOperand("--\(Option.note.name)", form))
        }
        note = text
    }

    private static func noteFromStandardInput() throws(CommandFailure) -> String {
        let source = SecretSource("-")
        let bytes = try source.read(limit: EntryDetails.longestNote + 1).withoutLastLineEnd()
        let text = bytes.withBytes { bytes in
            String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        guard let text else {
            throw .usage(.badValue(Option.note.name, expected: "text in UTF-8"))
        }
        return text
    }

    /// `details` with the changes.
    ///
    /// A tag to remove may differ in case.
    func applied(to details: EntryDetails, of name: EntryName) throws(CommandFailure)
        -> EntryDetails
    {
        var details = details
        for tag in removed {
            let place =
                details.tags.firstIndex(of: tag)
                ?? details.tags.firstIndex { $0.lowercased() == tag.lowercased() }
            guard let place else {
                throw .noSuchTag(name.visible, VisibleText.of(tag))
            }
            details.tags.remove(at: place)
        }
        for tag in added where !details.tags.contains(tag) { details.tags.append(tag) }
        if let note { details.note = note }
        return details
    }
}
