import CommandLineInterface
import Exports
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCryptography

extension ImportScan {
    /// Reads a file that may be an export; returns `false` for other files.
    ///
    /// - Parameter hasLines: Whether the file is a list, whose rows are lines.
    mutating func takeExport(
        _ content: SecretBytes, of file: String, hasLines: Bool = true
    ) throws -> Bool {
        switch try exportFiles.read(content, of: file) {
        case .export(let export): try take(export, of: file, hasLines: hasLines)
        case .refused(.unknownFormat): return false
        case .refused(.unreadable(_, .manifest)):
            try add(Finding(file, .skipped(.manifest)))
        case .refused(let error): refuse(file, .export(error))
        case .lost(let loss): refuse(file, .reader(loss, exportFiles.limits))
        }
        return true
    }

    private mutating func take(_ export: Export, of file: String, hasLines: Bool) throws {
        var exported = exportedFiles[file] ?? ExportedFile(format: export.format)
        exported.count(export)
        exportedFiles[file] = exported
        for entry in export.entries {
            try add(finding(for: entry, in: file, line: hasLines ? entry.line : nil))
        }
        for refusal in export.refusals {
            let isSkipped = refusal.reason == .unreadableDeleted && !includesDeleted
            let line = hasLines ? refusal.line : nil
            var finding = Finding(
                file, line: line, name: EntryName(refusal),
                isSkipped ? .skipped(.deleted) : .refused(.exportRow(refusal.reason)))
            if line == nil { finding.row = refusal.row }
            try add(finding)
        }
        if !export.missingPictures.isEmpty {
            refuse(file, .missingPictures(export.missingPictures))
        }
    }

    private func finding(for entry: ExportedEntry, in file: String, line: Int?) -> Finding {
        let content: EntryContent
        var warnings = entry.warnings.map(ImportWarning.init)
        switch entry.content {
        case .oneTimePassword(let credential): content = .oneTimePassword(credential)
        case .notComputed(let code):
            content = .uncomputed(code)
            warnings.append(.notComputed(code.kind))
        }
        let name = EntryName(issuer: content.issuer, account: content.account)
        if entry.state == .deleted, !includesDeleted {
            return Finding(file, line: line, name: name, .skipped(.deleted))
        }
        let imported = ImportedDetails(entry)
        return Finding(
            file, line: line, name: name,
            .entry(content, details: imported.details, warnings: warnings + imported.warnings))
    }
}

extension EntryName {
    /// The name of a refused row; `nil` if there is none or if a part of it may be a secret.
    ///
    /// If the columns of a file are shifted, the name's column may contain a key.
    fileprivate init?(_ refusal: ExportRefusal) {
        let parts = [refusal.issuer, refusal.account]
        guard parts.contains(where: { !$0.isEmpty }) else { return nil }
        for part in parts {
            guard SecretForm(inName: part) == nil, !part.contains("://") else { return nil }
        }
        self.init(issuer: refusal.issuer, account: refusal.account)
    }
}

/// The summary about a file of a different app.
struct ExportedFile {
    let format: ExportFormat
    private var icons = 0
    private var archived = 0
    private var emergencyCodes = 0

    init(format: ExportFormat) { self.format = format }

    /// Counts the properties that the vault does not store.
    mutating func count(_ export: Export) {
        icons += export.iconCount
        emergencyCodes += export.emergencyCodeCount
        archived += export.entries.count { $0.state == .archived }
    }

    /// The counts that are not zero, such as “2 icons, 1 archive mark left out”, or `nil`.
    var omissions: String? {
        let parts = [
            (icons, "icon", "icons"),
            (archived, "archive mark", "archive marks"),
            (emergencyCodes, "emergency code", "emergency codes"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
        return parts.isEmpty ? nil : parts.joined(separator: ", ") + " left out"
    }
}

// Vault files, such as backups.
extension ImportScan {
    /// Reads a vault file in this process, because the format is Watchword's own.
    mutating func takeVault(_ content: SecretBytes, of file: String) throws {
        let bytes = content.withBytes { [UInt8](copying: $0) }
        do throws(VaultError) {
            guard try !vault.isSameVault(bytes) else { return refuse(file, .sameVault) }
        } catch {
            return refuse(file, .vault(error))
        }
        switch try exportFiles.openVault(bytes, of: file) {
        case .refused(let refusal): refuse(file, refusal)
        case .backup(let backup):
            exportedFiles[file] = ExportedFile(format: .watchwordVault)
            for entry in backup.entries { try add(Finding(file, entry)) }
            for entry in backup.leftOut {
                let reason: Finding.SkipReason =
                    entry.tombstone != nil ? .wiped : entry.kind == .enrolled ? .enrolled : .bound
                try add(Finding(file, name: entry.name, .skipped(reason)))
            }
        }
    }
}

extension Finding {
    /// An entry of a backup.
    fileprivate init(_ file: String, _ entry: VaultBackup.Entry) {
        let content = entry.content
        self.init(
            file, name: EntryName(issuer: content.issuer, account: content.account),
            .entry(content, details: entry.details, warnings: []))
        origin = ImportItem.Origin(accessControl: entry.accessControl, created: entry.created)
    }
}
