import CommandLineInterface
import Exports
import SecretVault
import WatchwordCoding

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
