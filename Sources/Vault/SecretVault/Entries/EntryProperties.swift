internal import OneTimePassword
internal import WatchwordSystem

/// An entry's properties in the manifest, which remain when its secret is wiped.
struct EntryProperties: Hashable {
    /// When it was added, in Unix seconds.
    let created: Int64
    var issuer: String
    var account: String
    var traits: EntryTraits
    var edited: EntryEdit
    var details: EntryDetails

    init(
        of content: EntryContent, details: EntryDetails, created: Int64, edited: EntryEdit
    ) {
        self.created = created
        issuer = content.issuer
        account = content.account
        traits = content.traits
        self.edited = edited
        self.details = details
    }
}

/// An entry's last edit: the last change of its name, content, access control or details.
///
/// An incremented counter, or a new secret from the server that enrolled the device, does not count
/// as an edit.
public struct EntryEdit: Hashable, Sendable {
    /// When the entry was last edited, in Unix seconds.
    public let time: Int64
    /// The save that contains the edit.
    public let save: SaveID
}

extension EntryProperties {
    private static let editRoom = 8 + SaveID.count

    /// The maximum encoded size in bytes.
    var room: Int {
        let names = [issuer, account].reduce(0) { $0 + 4 + $1.utf8.count }
        return 8 + names + EntryTraits.room + EntryProperties.editRoom + details.room
    }

    func write(to output: inout OutputSpan<UInt8>) {
        output.append(UInt64(bitPattern: created), bytes: 8)
        output.append(text: issuer)
        output.append(text: account)
        traits.write(to: &output)
        output.append(UInt64(bitPattern: edited.time), bytes: 8)
        edited.save.write(to: &output)
        details.write(to: &output)
    }

    /// Reads the encoded properties.
    ///
    /// - Parameter formerSave: the save that counts as the last edit in a file of format 1, which
    ///   stores no edits and no details; `nil` for a later format.
    init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>, formerSave: SaveID?
    ) throws(FieldReader.Unreadable) {
        created = Int64(bitPattern: try fields.number(bytes, width: 8))
        issuer = try fields.text(bytes, limit: VaultLimits.nameSize)
        account = try fields.text(bytes, limit: VaultLimits.nameSize)
        traits = try EntryTraits(reading: &fields, in: bytes)
        if let formerSave {
            guard traits.isInFirstFormat else { throw FieldReader.Unreadable() }
            edited = EntryEdit(time: created, save: formerSave)
            details = EntryDetails()
        } else {
            let time = Int64(bitPattern: try fields.number(bytes, width: 8))
            edited = EntryEdit(time: time, save: try SaveID(reading: &fields, in: bytes))
            details = try EntryDetails(
                reading: &fields, in: bytes, limit: VaultLimits.noteSize,
                mostTags: VaultLimits.tags)
            guard ifPossible(try details.check()) != nil else { throw FieldReader.Unreadable() }
        }
    }
}

extension EntryDetails {
    /// The maximum encoded size of the details in bytes.
    var room: Int {
        ([note, icon] + tags).reduce(4 + 1) { $0 + 4 + $1.utf8.count }
    }

    func write(to output: inout OutputSpan<UInt8>) {
        output.append(UInt64(tags.count), bytes: 4)
        for tag in tags { output.append(text: tag) }
        output.append(text: note)
        output.append(text: icon)
        output.append(isFavourite ? 1 : 0)
    }

    /// Reads encoded details; does not validate them.
    ///
    /// - Parameters:
    ///   - limit: the maximum size of each text in bytes.
    ///   - mostTags: the maximum number of tags.
    init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>, limit: Int, mostTags: Int
    ) throws(FieldReader.Unreadable) {
        let tags = try fields.list(bytes, most: mostTags) {
            (fields, bytes) throws(FieldReader.Unreadable) in
            try fields.text(bytes, limit: limit)
        }
        let note = try fields.text(bytes, limit: limit)
        let icon = try fields.text(bytes, limit: limit)
        self.init(
            tags: tags, note: note, icon: icon, isFavourite: try fields.flag(bytes))
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(text: String) { append(string: Array(text.utf8).span) }
}

/// An entry's tags, note, icon and favourite mark.
public struct EntryDetails: Hashable, Sendable {
    /// Tags, in the owner's order; each is non-empty and unique.
    public var tags: [String]
    /// A note; may be empty.
    public var note: String
    /// The name of an icon, as imported from another app; may be empty.
    public var icon: String
    /// Whether the entry is marked as a favourite.
    public var isFavourite: Bool

    /// The values are not validated here: the vault refuses invalid details when they are saved.
    public init(
        tags: [String] = [], note: String = "", icon: String = "", isFavourite: Bool = false
    ) {
        self.tags = tags
        self.note = note
        self.icon = icon
        self.isFavourite = isFavourite
    }
}

extension EntryDetails {
    /// The maximum number of tags.
    public static var mostTags: Int { VaultLimits.tags }
    /// The maximum size of a tag in bytes.
    public static var longestTag: Int { VaultLimits.tagSize }
    /// The maximum size of a note in bytes.
    public static var longestNote: Int { VaultLimits.noteSize }
    /// The maximum size of an icon's name in bytes.
    public static var longestIcon: Int { VaultLimits.iconSize }

    /// Refuses texts that are too long, too many tags, and invalid tags.
    ///
    /// - Throws: ``VaultError/overLimit(_:)``, ``VaultError/invalidTag``.
    func check() throws(VaultError) {
        guard tags.count <= VaultLimits.tags else { throw .overLimit(.tags) }
        guard tags.allSatisfy({ $0.utf8.count <= VaultLimits.tagSize }) else {
            throw .overLimit(.tag)
        }
        guard note.utf8.count <= VaultLimits.noteSize else { throw .overLimit(.note) }
        guard icon.utf8.count <= VaultLimits.iconSize else { throw .overLimit(.icon) }
        guard tags.allSatisfy({ !$0.isEmpty && !$0.hasSpaceAround }),
            Set(tags.map { Array($0.utf8) }).count == tags.count
        else { throw .invalidTag }
    }
}

/// An entry's name as users type it: `issuer:account`, or only an account.
///
/// Names with the same text are equal: `GitHub:alice` can be an account at GitHub or an account
/// whose name contains a colon, and users cannot tell these apart.
package struct EntryName: Hashable, Sendable {
    package let issuer: String
    package let account: String

    /// Splits the name at its first colon.
    package init(typed: String) {
        if let colon = typed.firstIndex(of: ":") {
            issuer = String(typed[..<colon])
            account = String(typed[typed.index(after: colon)...])
        } else {
            issuer = ""
            account = typed
        }
    }

    /// The name of an existing entry.
    package init(_ entry: EntrySummary) {
        issuer = entry.issuer
        account = entry.account
    }

    package init(issuer: String, account: String) {
        self.issuer = issuer
        self.account = account
    }

    /// The full name: `issuer:account`, or the account alone if the issuer is empty.
    package var text: String { issuer.isEmpty ? account : issuer + ":" + account }

    package static func == (left: EntryName, right: EntryName) -> Bool { left.text == right.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether `typed` has no visible content and would therefore match every name.
    package static func isBlank(_ typed: String) -> Bool {
        typed.allSatisfy { $0.isWhitespace || $0 == ":" }
    }
}

extension EntrySummary {
    package var name: EntryName { EntryName(self) }
}
