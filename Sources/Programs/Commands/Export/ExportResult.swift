import CommandLineInterface
import Exports
import OneTimePassword
import SecretVault
import WatchwordCoding
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
    init(backupOf entries: [OpenedEntry], password: SecretBytes, _ session: Session) throws {
        let backup = VaultBackup(
            entries.map {
                VaultBackup.Entry(
                    content: $0.content, details: $0.summary.details,
                    accessControl: $0.summary.accessControl, created: $0.summary.created)
            })
        let file = try CommandFailure.naming("the backup") {
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
    ) throws {
        let written = try writeExport(
            entries.compactMap(\.exported), as: target, password: password,
            now: SystemClock.unixTime())
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

/// What a format could not hold.
///
/// Each kind of loss gets one line; `--verbose` adds the names of the entries.
struct ExportReport {
    let format: ExportRequest.Format
    let omissions: [(name: EntryName, reason: EntryOmission)]
    let losses: [(name: EntryName, property: LostProperty)]

    /// Whether an entry is missing.
    var isIncomplete: Bool { !omissions.isEmpty }

    func print(_ session: Session) {
        let isVerbose = session.arguments.has(.verbose)
        for reason in EntryOmission.allCases {
            let names = omissions.filter { $0.reason == reason }.map(\.name)
            guard !names.isEmpty else { continue }
            // An incomplete backup is reported even with --quiet.
            session.printer.alarm(
                "\(format.name): " + Messages.sentence(forLeavingOut: names.count, reason)
                    + ExportReport.list(names, isVerbose))
        }
        for property in LostProperty.allCases {
            let names = losses.filter { $0.property == property }.map(\.name)
            guard !names.isEmpty else { continue }
            session.printer.warn(
                "\(format.name): " + Messages.sentence(forLosing: property, entries: names.count)
                    + ExportReport.list(names, isVerbose))
        }
        if !isVerbose, !omissions.isEmpty || !losses.isEmpty {
            session.printer.note(
                "--verbose names the entries; --format watchword keeps everything.")
        }
    }

    private static func list(_ names: [EntryName], _ isVerbose: Bool) -> String {
        isVerbose ? ": " + names.map(\.visible).joined(separator: ", ") : ""
    }

    /// The report of an export to files as JSON.
    func json(files: [String], count: Int, isEncrypted: Bool) -> JSONValue {
        .object([
            ("files", .list(files.map { .text($0) })), ("format", .text(format.word)),
            ("encrypted", .flag(isEncrypted)), ("entries", .number(Int64(count))),
            (
                "left_out",
                .list(
                    omissions.map {
                        .object([
                            ("entry", .text($0.name.text)),
                            ("reason", .text(Messages.slug(for: $0.reason))),
                        ])
                    })
            ),
            (
                "lost",
                .list(
                    losses.map {
                        .object([
                            ("entry", .text($0.name.text)),
                            ("property", .text(Messages.slug(for: $0.property))),
                        ])
                    })
            ),
        ])
    }
}
