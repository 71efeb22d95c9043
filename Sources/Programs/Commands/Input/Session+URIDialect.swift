import CommandLineInterface
import Exports
import OneTimePassword
import WatchwordCryptography

// Key URIs of other apps, which only the export reader can interpret.
extension Session {
    /// The credential of a URI in another app's dialect; `nil` if the URI has the same meaning
    /// everywhere or is not valid in any dialect.
    func credential(
        ofDialect text: SecretBytes, _ place: String
    ) throws(CommandFailure) -> Credential? {
        let lines = text.withBytes(URILines.init)
        guard lines.startWithURI, !lines.arePlain, !lines.haveMigrations else { return nil }
        var exports = ExportFiles(self)
        guard case .export(let export) = try exports.read(text, of: place) else { return nil }
        guard let entry = export.entries.first, export.entries.count == 1,
            export.refusals.isEmpty
        else { return nil }
        switch entry.content {
        case .oneTimePassword(let credential):
            for warning in entry.warnings {
                printer.warn("\(place): \(Messages.sentence(for: ImportWarning(warning)))")
            }
            return credential
        case .notComputed(let code): throw .notComputed(place, code.kind)
        }
    }
}
