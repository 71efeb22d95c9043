internal import OneTimePassword
internal import POSIX

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
/// An incremented counter, or a new secret from the server that enrolled the device, is not an
/// edit.
public struct EntryEdit: Hashable, Sendable {
    /// When the entry was edited, in Unix seconds.
    public let time: Int64
    /// The save with the edit.
    public let save: SaveID
}

extension EntryProperties {
    private static let editRoom = 8 + SaveID.count
    private static let favouriteRoom = 1

    /// The maximum encoded size in bytes.
    var room: Int {
        let texts = [issuer, account, details.note, details.icon] + details.tags
        return 8 + texts.reduce(0) { $0 + 4 + $1.utf8.count } + EntryTraits.room
            + EntryProperties.editRoom + 4 + EntryProperties.favouriteRoom
    }

    func write(to output: inout OutputSpan<UInt8>) {
        output.append(UInt64(bitPattern: created), bytes: 8)
        output.append(text: issuer)
        output.append(text: account)
        traits.write(to: &output)
        output.append(UInt64(bitPattern: edited.time), bytes: 8)
        edited.save.write(to: &output)
        output.append(UInt64(details.tags.count), bytes: 4)
        for tag in details.tags { output.append(text: tag) }
        output.append(text: details.note)
        output.append(text: details.icon)
        output.append(details.isFavourite ? 1 : 0)
    }

    /// Reads the properties.
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
            details = try EntryDetails(reading: &fields, in: bytes)
        }
    }
}

extension EntryDetails {
    fileprivate init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let count = try fields.number(bytes, width: 4)
        guard count <= UInt64(VaultLimits.tags) else { throw FieldReader.Unreadable() }
        var tags: [String] = []
        for _ in 0..<count { tags.append(try fields.text(bytes, limit: VaultLimits.tagSize)) }
        let note = try fields.text(bytes, limit: VaultLimits.noteSize)
        let icon = try fields.text(bytes, limit: VaultLimits.iconSize)
        let favourite = try fields.number(bytes, width: 1)
        guard favourite <= 1 else { throw FieldReader.Unreadable() }
        self.init(tags: tags, note: note, icon: icon, isFavourite: favourite == 1)
        do { try check() } catch { throw FieldReader.Unreadable() }
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(text: String) { append(string: Array(text.utf8).span) }
}
