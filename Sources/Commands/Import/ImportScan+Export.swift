import Cryptography
import Interchange
import OneTimePassword
import PictureReader

// Other apps' exports.
extension ImportScan {
    /// Reads a file that may be an export, or a picture from a pipe; returns false if it is
    /// neither.
    mutating func takeExport(
        _ content: SecretBytes, of file: String
    ) throws(CommandFailure) -> Bool {
        var symbols: [SecretBytes] = []
        switch try exportFiles.read(content, of: file, symbol: { symbols.append($0) }) {
        case .picture(.symbols): for symbol in symbols { try take(symbol, of: file) }
        case .picture(.refused(let refusal)): refuse(file, .picture(refusal))
        case .export(let export): try take(export, of: file)
        case .refused(.unknownFormat): return false
        case .refused(let error): refuse(file, .export(error))
        case .lost(let refusal): refuse(file, .reader(refusal))
        }
        return true
    }

    private mutating func take(_ export: Export, of file: String) throws(CommandFailure) {
        exportedFiles[file] = ExportedFile(format: export.format, iconCount: export.iconCount)
        for entry in export.entries { try add(finding(for: entry, in: file)) }
        for (row, reason) in export.refusals {
            try add(Finding(file, row: row, .refused(.exportRow(reason))))
        }
        if !export.missingPictures.isEmpty {
            refuse(file, .missingPictures(export.missingPictures))
        }
    }

    private func finding(for entry: ExportedEntry, in file: String) -> Finding {
        switch entry.content {
        case .oneTimePassword(let credential):
            let name = EntryName(issuer: credential.issuer, account: credential.account)
            guard entry.state != .deleted || includesDeleted else {
                return Finding(file, name: name, .skipped(.deleted))
            }
            let warnings = entry.warnings.map(ImportWarning.init)
            return Finding(file, name: name, .credential(credential, warnings: warnings))
        case .notComputed(let code):
            let name = EntryName(issuer: code.issuer, account: code.account)
            return Finding(file, name: name, .refused(.notComputed(code.kind)))
        }
    }
}

/// What the summary says about a file of another app.
struct ExportedFile {
    let format: ExportFormat
    let iconCount: Int
}
