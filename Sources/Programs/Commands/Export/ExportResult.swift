import Exports
import OneTimePassword
import SecretVault
import WatchwordCryptography
import WatchwordSystem

/// An entry that was opened for an export.
struct OpenedEntry {
    let summary: EntrySummary
    let content: EntryContent

    /// The entry as other apps represent it; `nil` for a plain or enrolled secret.
    var exported: ExportedEntry? {
        let content: ExportedEntry.Content
        switch self.content {
        case .oneTimePassword(let credential): content = .oneTimePassword(credential)
        case .uncomputed(let code): content = .notComputed(code)
        case .plainSecret, .enrolledSecret: return nil
        }
        let details = summary.details
        return ExportedEntry(
            content: content, tags: details.tags, note: details.note,
            isFavourite: details.isFavourite)
    }
}

/// The documents of an export, and what is missing from them.
struct ExportResult {
    let documents: [SecretBytes]
    /// The number of entries in the documents.
    let count: Int
    let report: ExportReport

    /// A backup: a vault file with a passphrase of its own.
    init(
        backupOf entries: [OpenedEntry], password: SecretBytes, _ session: Session
    ) throws(CommandFailure) {
        let backup = VaultBackup(
            entries.map {
                VaultBackup.Entry(
                    content: $0.content, details: $0.summary.details,
                    accessControl: $0.summary.accessControl, created: $0.summary.created)
            })
        let file = try session.inVault("the backup") { () throws(VaultError) in
            try backup.sealed(
                passphrase: password, cost: .standard, now: SystemClock.unixTime())
        }
        documents = [SecretBytes(copying: file.span)]
        count = entries.count
        report = ExportReport(format: .backup, omissions: [], losses: [])
    }

    /// Entries for another app.
    ///
    /// - Parameter plain: The plain secrets, which no other app supports.
    init(
        _ entries: [OpenedEntry], for target: ExportTarget, password: SecretBytes?,
        plain: [EntrySummary]
    ) throws(CommandFailure) {
        let written: WrittenExport
        do {
            written = try writeExport(
                entries.compactMap(\.exported), as: target, password: password,
                now: SystemClock.unixTime())
        } catch {
            throw CommandFailure(error)
        }
        var omissions: [(name: EntryName, reason: EntryOmission)] = []
        for entry in plain { omissions.append((entry.name, .plainSecret)) }
        for (entry, reason) in written.omissions {
            omissions.append((entries[entry].summary.name, reason))
        }
        var losses: [(name: EntryName, property: LostProperty)] = []
        for (entry, property) in written.losses {
            losses.append((entries[entry].summary.name, property))
        }
        let omitted = Set(written.omissions.map(\.entry))
        for (index, entry) in entries.enumerated() where !omitted.contains(index) {
            let summary = entry.summary
            // Other apps use images, or icon names of their own.
            if !summary.details.icon.isEmpty { losses.append((summary.name, .icon)) }
            if summary.accessControl != .standard(for: summary.kind) {
                losses.append((summary.name, .accessControl))
            }
        }
        documents = written.documents
        count = entries.count - written.omissions.count
        report = ExportReport(format: .app(target), omissions: omissions, losses: losses)
    }
}
