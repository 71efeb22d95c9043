internal import WatchwordSystem

/// The attempts file: two slots of a fixed size, each of which holds all the counts.
///
/// The newer complete slot is valid, and the other one is overwritten next, in place. That needs no
/// disk space, and an interrupted write leaves the valid slot intact.
struct AttemptsFile {
    static let slotCount = 16 << 10
    /// The size of a disk block; writes are whole blocks.
    private static let blockCount = 4 << 10

    /// The counts in the valid slot.
    let attempts: Attempts
    /// Whether the file can be overwritten in place.
    let isWhole: Bool
    private let sequence: UInt64
    private let newer: Int

    /// Parses the attempts file of the vault `vaultID`.
    ///
    /// A file that is damaged or belongs to another vault counts as empty: an attacker who can
    /// damage it can also delete it.
    ///
    /// - Throws: ``VaultError/newerAttempts(_:)``.
    init(reading bytes: [UInt8], of vaultID: [UInt8]) throws(VaultError) {
        var newest = (Attempts(of: vaultID), sequence: UInt64(0))
        var newer = 1
        for slot in 0..<2 {
            do throws(VaultError) {
                let text = bytes.dropFirst(slot * Self.slotCount).prefix(Self.slotCount)
                let read = try Attempts.read(Array(text))
                guard read.0.vaultID == vaultID, read.sequence > newest.sequence else { continue }
                (newest, newer) = (read, slot)
            } catch {
                if case .newerVersion(let version) = error { throw .newerAttempts(version) }
            }
        }
        attempts = newest.0
        sequence = newest.sequence
        self.newer = newer
        // A reader would reject any sequence number after the maximum.
        isWhole = bytes.count == 2 * Self.slotCount && sequence > 0 && sequence < VaultLimits.number
    }

    /// The content of a new file at its full size, so that its disk space is allocated.
    static func holding(_ attempts: Attempts) -> [UInt8] {
        var bytes: [UInt8] = []
        for sequence: UInt64 in 1...2 {
            bytes += attempts.text(sequence: sequence)
            bytes += [UInt8](repeating: 0, count: Int(sequence) * slotCount - bytes.count)
        }
        return bytes
    }

    /// The bytes to write, and their offset, to store these counts in a file that is whole.
    func writing(_ attempts: Attempts) -> (bytes: [UInt8], offset: Int) {
        var bytes = attempts.text(sequence: sequence + 1)
        // The limit on counted records guarantees that the text fits.
        let blocks = (bytes.count + Self.blockCount - 1) / Self.blockCount
        bytes += [UInt8](repeating: 0, count: blocks * Self.blockCount - bytes.count)
        return (bytes, (1 - newer) * Self.slotCount)
    }
}
