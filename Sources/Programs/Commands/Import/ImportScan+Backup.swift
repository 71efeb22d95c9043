import Exports
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCryptography

// Vault files, such as backups.
extension ImportScan {
    /// Reads a vault file, whose format is Watchword's own, in this process.
    mutating func takeVault(_ content: SecretBytes, of file: String) throws(CommandFailure) {
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
                let reason =
                    entry.tombstone == nil
                    ? Finding.SkipReason.enrolled : Finding.SkipReason.wiped
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
            .entry(content, details: entry.details, warnings: []),
            origin: ImportItem.Origin(accessControl: entry.accessControl, created: entry.created))
    }
}
