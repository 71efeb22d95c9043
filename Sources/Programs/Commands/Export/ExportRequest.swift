import CommandLineInterface
import Exports
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// The format and the destination of an export, according to the options.
struct ExportRequest {
    enum Format: Hashable {
        /// A backup: a vault file with a separate passphrase.
        case backup
        case app(ExportTarget)

        /// The words of the option `--format`.
        static let words = ["watchword"] + ExportTarget.allCases.map(\.rawValue)

        init(word: String) { self = ExportTarget(rawValue: word).map(Format.app) ?? .backup }

        var word: String {
            switch self {
            case .backup: "watchword"
            case .app(let target): target.rawValue
            }
        }

        var name: String {
            switch self {
            case .backup: "Watchword"
            case .app(let target): target.name
            }
        }
    }

    enum Destination: Hashable {
        case file(String)
        case standardOutput
    }

    let format: Format
    let destination: Destination
    /// Whether a password protects the file.
    let isEncrypted: Bool

    init(_ session: Session) throws {
        let arguments = session.arguments
        let word = try arguments.choice(.format)
        format = word.map(Format.init) ?? .app(.keyURIs)
        let path = arguments[.output]
        destination = path.map { $0 == "-" ? .standardOutput : .file($0) } ?? .standardOutput
        let canBePlain: Bool
        switch format {
        case .backup: (isEncrypted, canBePlain) = (true, false)
        case .app(let target):
            canBePlain = target.canBeEncrypted
            isEncrypted = target.canBeEncrypted && !arguments.has(.plain)
        }
        try arguments.forbid(.plain, .exportPasswordFile)
        if arguments.has(.plain), !canBePlain {
            throw UsageError.needs(Option.plain.name, with: "format aegis")
        }
        if arguments.has(.exportPasswordFile), !isEncrypted {
            throw UsageError.needs(Option.exportPasswordFile.name, with: "format watchword")
        }
        if destination == .standardOutput, arguments.has(.force) {
            throw UsageError.needs(Option.force.name, with: Option.output.name)
        }
        if destination == .standardOutput, session.wantsJSON, format != .app(.keyURIs) {
            throw UsageError.needs(Option.json.name, with: Option.output.name)
        }
        // On a terminal, `export` prints only lines and QR codes; files need `--output -`.
        let isForTerminal = format == .app(.keyURIs) || format == .app(.google)
        if path == nil, !isForTerminal, session.printer.outputIsTerminal {
            throw CommandFailure.exportOnTerminal
        }
        if case .file(let path) = destination { try SecretFile.checkUnused(path, session) }
    }
}

extension Session {
    /// The new password for a file in the format `format`.
    func newExportPassword(for format: ExportRequest.Format) throws -> SecretBytes {
        let password = try newPassphrase(
            from: .exportPasswordFile, asking: .newExportPassword(format: format.name),
            again: .newExportPasswordAgain(format: format.name))
        if password.count < Session.shortPassphrase {
            printer.warn("the export's password is short and easy to guess; use several words")
        }
        return password
    }
}

/// The entries that `export` writes, and the entries that no format can include.
struct ExportSelection {
    /// The entries to open, in the vault's order.
    private(set) var chosen: [EntrySummary] = []
    /// The entries that `--skip-per-use` skips.
    private(set) var skipped: [EntrySummary] = []
    /// The entries that are bound to a device.
    private(set) var bound: [EntrySummary] = []
    /// The enrolled secrets and device keys, which are never exported.
    private(set) var enrolled: [EntrySummary] = []
    private(set) var wiped: [EntrySummary] = []
    /// The entries that lost their secrets, which may still be in the previous generation.
    private(set) var vanished: [EntrySummary] = []

    init(of entries: [EntrySummary], _ session: Session) throws {
        let skipsPerUse = session.arguments.has(.skipPerUse)
        for entry in try ExportSelection.wanted(entries, session) {
            if entry.hasVanished {
                vanished.append(entry)
            } else if entry.tombstone != nil {
                wiped.append(entry)
            } else if entry.binding != nil {
                bound.append(entry)
            } else if entry.kind == .enrolled {
                enrolled.append(entry)
            } else if skipsPerUse, entry.requiresCheckPerUse {
                skipped.append(entry)
            } else {
                chosen.append(entry)
            }
        }
    }

    /// The entries that match `--only` by a tag or, failing that, by a part of their names; all
    /// entries without the option.
    private static func wanted(
        _ entries: [EntrySummary], _ session: Session
    ) throws -> [EntrySummary] {
        let words = session.arguments.values(of: .only)
        guard !words.isEmpty else { return entries }
        var wanted: Set<RecordID> = []
        for word in words {
            guard !EntryName.isBlank(word) else { throw UsageError.emptyName }
            let tagged = entries.tagged([word])
            let found = tagged.isEmpty ? entries.filter(EntrySearch(word).matchesName) : tagged
            guard !found.isEmpty else { throw CommandFailure.noSuchEntry(VisibleText.of(word)) }
            wanted.formUnion(found.map(\.id))
        }
        return entries.filter { wanted.contains($0.id) }
    }

    /// Reports the entries that are bound to a device, before any prompt.
    func reportBound(_ session: Session) {
        for entry in bound {
            session.printer.alarm(
                "\(entry.name.visible) was skipped: it opens only \(Messages.place(of: entry) ?? "")"
            )
        }
    }

    /// Reports the other entries that no format can include.
    func report(_ session: Session) {
        if !wiped.isEmpty {
            session.printer.note("Skipped \(Messages.entries(wiped.count, "wiped")).")
        }
        // An incomplete backup is reported even with --quiet.
        for entry in vanished {
            session.printer.alarm(
                "\(entry.name.visible) was skipped: it has lost its secret; restore it as watchword list "
                    + "says, and export again")
        }
        for entry in enrolled {
            session.printer.alarm(
                "\(entry.name.visible) was skipped: to the server, a copy of an enrolled secret looks "
                    + "like theft; enrol the other device instead")
        }
        for entry in skipped {
            session.printer.alarm(
                "\(entry.name.visible) was skipped: it requires a check at each use")
        }
    }
}
