import Exports
import OneTimePassword
import Pictures
import ProcessConfinement
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// An item found in a file, or the reason why there is none.
struct Finding {
    let file: String
    /// The line number in a text file.
    let line: Int?
    /// The row number in a different app's export; the first row is 1.
    var row: Int?
    /// The item's name, if it is known.
    let name: EntryName?
    let content: Content
    /// The facts in a backup about the entry besides its content; `nil` for other files.
    var origin: ImportItem.Origin?

    enum Content {
        case entry(EntryContent, details: EntryDetails, warnings: [ImportWarning])
        case refused(Refusal)
        case skipped(SkipReason)
    }

    /// The reason why an item was skipped without loss.
    enum SkipReason: String, CaseIterable {
        /// A symbolic link in a folder, which is not followed.
        case symbolicLink = "symbolic-link"
        /// A part of an export that another image already contained.
        case repeatedPart = "repeated-part"
        /// The other app keeps the entry in its trash.
        case deleted
        /// The server would treat a copy of an enrolled secret as stolen.
        case enrolled
        /// The entry opens only on its device.
        case bound
        /// The entry was wiped, so it has no secret.
        case wiped
        /// The file only describes other files and contains no entries.
        case manifest
    }

    /// The reason why an item was refused.
    enum Refusal {
        case file(FileError)
        case picture(PictureRefusal)
        /// A QR code without an otpauth URI.
        case unrelatedSymbol
        case line(OTPAuthLineError)
        /// A different app's export that could not be read, or a file of an unknown kind.
        case export(ExportError)
        /// A file that the confined export reader could not process, and the limits that applied.
        case reader(HelperLoss, ExportLimits)
        /// A vault file that could not be read.
        case vault(VaultError)
        /// A copy of the vault into which the entries are imported.
        case sameVault
        /// A row of a different app's export.
        case exportRow(ExportRowRefusal)
        /// The missing images of a different app's export.
        case missingPictures([Int])
        /// The number of further lines without an otpauth URI.
        case unrecognisedLines(Int)
        /// An invalid entry of an export; the first entry is 1.
        case exportEntry(Int, MigrationRefusal.Reason)
        /// The missing parts of an export; the first part is 1.
        case missingParts([Int], of: Int)
        /// The number of further exports with missing parts.
        case incompleteExports(Int)

        /// Whether a file or a part of an export was not read; if `false`, the item was read and
        /// refused.
        var leavesUnread: Bool {
            switch self {
            case .file, .picture, .export, .reader, .vault, .missingPictures, .missingParts,
                .incompleteExports:
                true
            case .unrelatedSymbol, .line, .sameVault, .exportRow, .unrecognisedLines, .exportEntry:
                false
            }
        }
    }

    /// An entry without details.
    init(_ file: String, line: Int?, _ credential: Credential, warnings: [ImportWarning]) {
        self.init(
            file, line: line,
            .entry(
                .oneTimePassword(credential), details: EntryDetails(), warnings: warnings))
    }

    init(_ file: String, line: Int? = nil, name: EntryName? = nil, _ content: Content) {
        self.file = file
        self.line = line
        self.name = name
        self.content = content
    }

    /// The entry to import, if there is one.
    var item: ImportItem? {
        guard case .entry(let entry, let details, _) = content else { return nil }
        return ImportItem(entry, details: details, origin: origin)
    }

    /// The location of the item, safe for a terminal.
    var place: String {
        let file = Finding.visibleName(of: file)
        if let line { return "\(file), line \(line)" }
        return row.map { "\(file), row \($0)" } ?? file
    }

    /// The name of a file, safe for a terminal; `-` is standard input.
    static func visibleName(of file: String) -> String {
        file == "-" ? "standard input" : VisibleText.of(file)
    }

    var warnings: [ImportWarning] {
        if case .entry(_, _, let warnings) = content { warnings } else { [] }
    }
}

/// The details of an entry of a different app's export, limited to those that the vault can store.
///
/// A detail that is too long is left out with a warning, because the key is more important.
struct ImportedDetails {
    private(set) var details = EntryDetails()
    private(set) var warnings: [ImportWarning] = []

    init(_ entry: ExportedEntry) {
        details.isFavourite = entry.isFavourite
        if entry.note.utf8.count <= EntryDetails.longestNote {
            details.note = entry.note
        } else {
            warnings.append(.leftOut(.note))
        }
        if entry.icon.utf8.count <= EntryDetails.longestIcon {
            details.icon = entry.icon
        } else {
            warnings.append(.leftOut(.icon))
        }
        for tag in entry.tags.map(\.trimmed) where !tag.isEmpty && !details.tags.contains(tag) {
            if tag.utf8.count <= EntryDetails.longestTag, details.tags.count < EntryDetails.mostTags
            {
                details.tags.append(tag)
            } else {
                warnings.append(.leftOut(.tag))
            }
        }
    }
}

/// A tolerated deviation of an imported item.
enum ImportWarning: Hashable {
    case keyURI(KeyURIWarning)
    case credential(CredentialWarning)
    case migration(MigrationWarning)
    case incompleteSecret
    case steamParameters
    case counterOfLastCode
    /// A kind of code that is stored, but not computed.
    case notComputed(UncomputedCode.Kind)
    /// The entry in the vault has a different note, which was kept.
    case otherNote
    /// A detail that the vault cannot store.
    case leftOut(Detail)

    enum Detail { case tag, note, icon }

    init(_ warning: ExportWarning) {
        self =
            switch warning {
            case .incompleteSecret: .incompleteSecret
            case .steamParameters: .steamParameters
            case .counterOfLastCode: .counterOfLastCode
            case .keyURI(let warning): .keyURI(warning)
            case .credential(let warning): .credential(warning)
            }
    }

    /// The categories in which a file's warnings are counted.
    enum Category: CaseIterable {
        case incompleteSecret, misnamedParameter, counterOfLastCode, shortKey, digits, longPeriod
        case steamParameters, keyURI, migration, notComputed, otherNote, leftOut
    }

    var category: Category {
        switch self {
        case .keyURI(.misnamedParameter): .misnamedParameter
        case .keyURI(.key(.strayCharacter)), .keyURI(.key(.nonzeroTrailingBits)),
            .incompleteSecret:
            .incompleteSecret
        case .keyURI: .keyURI
        case .credential(.shortKey): .shortKey
        case .credential(.digits): .digits
        case .credential(.longPeriod): .longPeriod
        case .migration: .migration
        case .steamParameters: .steamParameters
        case .counterOfLastCode: .counterOfLastCode
        case .notComputed: .notComputed
        case .otherNote: .otherNote
        case .leftOut: .leftOut
        }
    }
}
