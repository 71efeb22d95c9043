/// Tells one set of slots from every other: the SHA-256 digest of a file's slot lines.
///
/// Copies of a vault with the same slots are opened by the same passphrases; an older copy may not be.
struct SlotsDigest: Hashable {
    let bytes: [UInt8]

    static let count = 32

    /// Takes a digest that was written down.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Digests the lines of these slots.
    init(of slots: [Slot]) throws(VaultError) {
        var text = VaultText()
        for slot in slots { slot.write(to: &text) }
        bytes = try digest(of: text.bytes.span)
    }

    /// Whether its bytes come before those of `other`.
    func precedes(_ other: SlotsDigest) -> Bool { bytes.lexicographicallyPrecedes(other.bytes) }
}

extension VaultState {
    /// Tells the slots from those of another file.
    func slotsDigest() throws(VaultError) -> SlotsDigest { try SlotsDigest(of: slots.map(\.slot)) }
}
