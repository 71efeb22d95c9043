internal import WatchwordSystem

/// The `slots` file: the slots of the vault file when it was last opened or saved here with its key.
///
/// If a program that synchronises folders puts a file with other slots there, its owner may not know
/// which passphrase opens it. The file is written only once the slots have changed; without it,
/// nothing is known.
enum SlotsRecord {
    private static let firstLine = "watchword-slots 1\n"
    private static let sizeLimit = 1024

    private static var file: FileReplacement {
        FileReplacement(of: VaultLocation.slots, beginningWith: Array(firstLine.utf8))
    }

    /// The recorded slots of the vault file at `location`; `nil` if nothing is known.
    static func read(of location: VaultLocation, vaultID: [UInt8]) -> SlotsDigest? {
        ifPossible(try known(of: location, vaultID: vaultID)) ?? nil
    }

    private static func known(of location: VaultLocation, vaultID: [UInt8]) throws -> SlotsDigest? {
        guard let own = try location.openStateFolder() else { return nil }
        let bytes = try own.readPrivateFile(VaultLocation.slots, limit: sizeLimit)
        guard bytes.starts(with: firstLine.utf8) else { return nil }
        var line = LineReader(bytes)
        try line.next()
        try line.next()
        let id = try line.base64(in: line.word(), count: VaultDocument.vaultIDCount)
        let slots = try line.base64(in: line.lastWord(), count: SlotsDigest.count)
        return id == vaultID ? SlotsDigest(slots) : nil
    }

    /// Records the slots of `document`, which the key has authenticated.
    ///
    /// If this fails, refusals by these slots cost only waits until the next time.
    static func write(_ document: VaultDocument, in own: borrowing Folder) {
        var text = VaultText()
        text.write(firstLine)
        text.writeBase64(document.vaultID)
        text.write(" ")
        text.writeBase64(document.slotsDigest.bytes)
        text.endLine()
        _ = ifPossible(try file.replace(with: text.bytes.span, in: own, previous: .none))
    }

    /// Removes the record.
    static func remove(in own: borrowing Folder) {
        _ = ifPossible(try file.remove(in: own))
    }
}
