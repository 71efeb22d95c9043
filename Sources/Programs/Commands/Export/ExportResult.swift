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

    /// The entry as other apps represent it; `nil` for a static or enrolled secret.
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

/// The documents of an export, and the losses.
struct ExportResult {
    let documents: [SecretBytes]
    /// The number of entries in the documents.
    let count: Int
    let report: ExportReport

    /// A backup: a vault file with a separate passphrase.
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

    /// Entries for a different app.
    ///
    /// - Parameter plain: The static secrets, which no other app supports.
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
            // Other apps use images, or their own icon names.
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

/// The data that a format could not hold.
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

    /// The record of an export to files.
    ///
    /// - Parameter bound: the entries that are bound to a device.
    func record(
        files: [String], count: Int, isEncrypted: Bool, bound: [EntrySummary]
    ) -> Record {
        let reasons =
            bound.map { ($0.name, "bound") }
            + omissions.map { ($0.name, Messages.slug(for: $0.reason)) }
        let leftOut = reasons.map { name, reason in
            JSONValue.object([("entry", .text(name.text)), ("reason", .text(reason))])
        }
        let lost = losses.map { loss in
            JSONValue.object([
                ("entry", .text(loss.name.text)),
                ("property", .text(Messages.slug(for: loss.property))),
            ])
        }
        return [
            ("files", .list(files.map { .text($0) })), ("format", .text(format.word)),
            ("encrypted", .flag(isEncrypted)), ("entries", .number(Int64(count))),
            ("left_out", .list(leftOut)), ("lost", .list(lost)),
        ]
    }
}

/// Writes the documents of an export.
enum ExportFile {
    /// Writes a file, or one image for each QR code of a Google Authenticator export.
    ///
    /// If one of several images cannot be written, the new ones are removed again.
    ///
    /// - Returns: the paths of the files.
    static func write(
        _ documents: [SecretBytes], _ format: ExportRequest.Format, to path: String,
        _ session: Session
    ) throws -> [String] {
        guard format == .app(.google) else {
            for document in documents { try SecretFile.write(document, to: path, session) }
            return [path]
        }
        let count = documents.count
        let paths = (1...count).map { count == 1 ? path : numbered(path, $0, of: count) }
        for path in paths { try SecretFile.checkUnused(path, session) }
        // Interrupting signals take effect once all images are complete.
        try SignalQueue.holdingBack(SignalQueue.interruptions) {
            try write(documents, to: paths, session)
        } otherwise: { failure in
            failure
        }
        return paths
    }

    private static func write(
        _ documents: [SecretBytes], to paths: [String], _ session: Session
    ) throws {
        for (index, uri) in documents.enumerated() {
            do {
                try SecretFile.write(QRWriteCommand.picture(of: uri), to: paths[index], session)
            } catch {
                if !session.arguments.has(.force) {
                    // Report the first failure.
                    for written in paths.prefix(index) {
                        do { try OutputFile.remove(written) } catch _ {}
                    }
                }
                throw error
            }
        }
    }

    /// `shots/a.png` becomes `shots/a-2-of-3.png`.
    private static func numbered(_ path: String, _ number: Int, of count: Int) -> String {
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let dot = path[start...].lastIndex(of: ".") ?? path.endIndex
        return "\(path[..<dot])-\(number)-of-\(count)\(path[dot...])"
    }

    /// Prints the documents; a terminal shows QR codes instead of migration URIs.
    static func print(
        _ documents: [SecretBytes], _ format: ExportRequest.Format, _ session: Session
    ) throws {
        for (index, document) in documents.enumerated() {
            if format == .app(.google) {
                guard session.printer.outputIsTerminal else {
                    try session.printer.line(document)
                    continue
                }
                try session.printer.line("\(index + 1) of \(documents.count)")
                try QRWriteCommand.show(document, session)
            } else {
                try document.withBytes { bytes in
                    try session.printer.bytes(bytes)
                }
            }
        }
    }
}
