public import OneTimePassword

/// An entry of another app's export.
public struct ExportedEntry: Sendable {
    /// The codes that the entry computes.
    public enum Content: Sendable {
        /// A one-time password that Watchword computes.
        case oneTimePassword(Credential)
        /// A kind of code that Watchword does not compute; the entry is kept unchanged.
        case notComputed(UncomputedCode)
    }

    /// The place where the other app kept the entry.
    public enum State: UInt8, CaseIterable, Hashable, Sendable {
        case active, archived, deleted
    }

    /// The one-time password, or the kind of code that Watchword does not compute.
    public let content: Content
    /// Groups, folders, categories and tags, without duplicates, in their order.
    public let tags: [String]
    /// A note; may be empty.
    public let note: String
    /// The name of an icon, which is not its image; may be empty.
    public let icon: String
    /// Whether the other app marked the entry as a favourite.
    public let isFavourite: Bool
    /// The place where the other app kept the entry.
    public var state = State.active
    /// Deviations that were accepted, in the order in which they were found.
    public var warnings: [ExportWarning] = []
    /// The line on which the entry was found, counted from one; `nil` if the file is not a list of
    /// lines.
    public var line: Int?
    /// The last time step whose code a server accepted, if the file comes from a server and states
    /// it.
    public var lastUsedStep: UInt64?

    /// Combines the facts of an active entry without deviations.
    public init(
        content: Content, tags: [String] = [], note: String = "", icon: String = "",
        isFavourite: Bool = false
    ) {
        self.content = content
        self.tags = tags
        self.note = note
        self.icon = icon
        self.isFavourite = isFavourite
    }
}

/// A deviation of an exported entry that was accepted.
public enum ExportWarning: Hashable, Sendable {
    /// The last character of the Base32 secret completes no byte and was dropped.
    case incompleteSecret
    /// The number of digits, the period or the algorithm in the file is not the one that Steam
    /// uses.
    case steamParameters
    /// The counter may belong to the last code rather than to the next code, so the first code may
    /// be refused: Google Authenticator.
    case counterOfLastCode
    /// A deviation of the entry's key URI.
    case keyURI(KeyURIWarning)
    /// A property that the standards do not allow.
    case credential(CredentialWarning)
}

/// Why a row of an export did not become an entry.
public enum ExportRowRefusal: UInt8, Error, CaseIterable, Hashable, Sendable {
    /// The row has no secret, or a secret that decodes to no bytes.
    case noSecret
    /// The secret is not in the format's encoding.
    case badSecret
    /// The secret is longer than 1 KiB.
    case secretTooLong
    /// The algorithm is not SHA-1, SHA-256 or SHA-512.
    case unknownAlgorithm
    /// The type is unknown.
    case unknownType
    /// The number of digits is out of range.
    case badDigits
    /// The period is out of range.
    case badPeriod
    /// The counter is out of range.
    case badCounter
    /// A key URI that cannot be read.
    case badKeyURI
    /// A name, note or parameter is too long.
    case tooLong
    /// The app encrypted this row with a key that only the phone has.
    case encryptedByPhone
    /// A member is missing or has the wrong type.
    case malformed
    /// The row cannot be read, and the app keeps it in its trash.
    case unreadableDeleted
    /// A file of the archive, which cannot be read.
    case unreadableFile
}

/// A row of an export that did not become an entry.
public struct ExportRefusal: Hashable, Sendable {
    /// The row's position; the first row of the file is 1.
    public let row: Int
    /// The line on which the row was found, counted from one; `nil` if the file is not a list of
    /// lines.
    public let line: Int?
    /// The issuer, as far as it is known.
    ///
    /// It can be a secret if the file's columns are shifted.
    public let issuer: String
    /// The account, as far as it is known.
    public let account: String
    /// Why there is no entry.
    public let reason: ExportRowRefusal

    /// Combines the position, the names and the reason of a refusal.
    public init(
        row: Int, line: Int? = nil, issuer: String = "", account: String = "",
        reason: ExportRowRefusal
    ) {
        self.row = row
        self.line = line
        self.issuer = issuer
        self.account = account
        self.reason = reason
    }
}

/// The content of an export.
public struct Export: Sendable {
    /// The recognised format of the file.
    public let format: ExportFormat
    /// The entries, in the app's order.
    public let entries: [ExportedEntry]
    /// The rows that did not become entries.
    public let refusals: [ExportRefusal]
    /// The number of icons and attachments that were not read.
    public let iconCount: Int
    /// The missing images of a Google Authenticator export, counted from one.
    public var missingPictures: [Int] = []
    /// The number of emergency codes that were not read.
    public var emergencyCodeCount = 0

    /// Combines the results of reading an export.
    public init(
        format: ExportFormat, entries: [ExportedEntry], refusals: [ExportRefusal], iconCount: Int
    ) {
        self.format = format
        self.entries = entries
        self.refusals = refusals
        self.iconCount = iconCount
    }
}
