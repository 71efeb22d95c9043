/// Identifies a set of slots: the SHA-256 digest of a file's slot lines.
///
/// The same passphrases open all copies with the same slots; an older copy may have others.
struct SlotsDigest: Hashable {
    let bytes: [UInt8]

    static let count = 32

    /// Uses a digest from the attempts file.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Computes the digest of these slots' lines.
    init(of slots: [Slot]) throws(VaultError) {
        var text = VaultText()
        for slot in slots { slot.write(to: &text) }
        bytes = try digest(of: text.bytes.span)
    }

    /// Whether its bytes come before those of `other`.
    func precedes(_ other: SlotsDigest) -> Bool { bytes.lexicographicallyPrecedes(other.bytes) }
}

extension VaultState {
    /// The digest of the slots.
    func slotsDigest() throws(VaultError) -> SlotsDigest { try SlotsDigest(of: slots.map(\.slot)) }
}
