internal import POSIX

/// The file of attempts: two slots of a fixed size, each of which holds all that is counted.
///
/// The newer of the slots that are whole is valid, and the other one is overwritten next, in place: that
/// takes no room on the disk, and when it is cut short, the slot before it still stands.
struct AttemptsFile {
    static let slotCount = 16 << 10
    /// What is written at once: blocks of a disk.
    private static let blockCount = 4 << 10

    /// What is counted.
    let attempts: Attempts
    /// Whether the file can be overwritten in place.
    let isWhole: Bool
    private let sequence: UInt64
    private let newer: Int

    /// Takes a file of the vault `vaultID` apart.
    ///
    /// A file that is damaged or another vault's counts nothing: who could spoil it could remove it.
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
        // Behind the greatest sequence there is none that a reader would accept.
        isWhole = bytes.count == 2 * Self.slotCount && sequence > 0 && sequence < VaultLimits.number
    }

    /// A new file, whose room on the disk is all taken.
    static func holding(_ attempts: Attempts) throws(VaultError) -> [UInt8] {
        var bytes: [UInt8] = []
        for sequence: UInt64 in 1...2 {
            bytes += try attempts.text(sequence: sequence)
            bytes += [UInt8](repeating: 0, count: Int(sequence) * slotCount - bytes.count)
        }
        return bytes
    }

    /// What is to be written where, so that the file counts this; only for a file that is whole.
    func writing(_ attempts: Attempts) throws(VaultError) -> (bytes: [UInt8], offset: Int) {
        var bytes = try attempts.text(sequence: sequence + 1)
        // Text that fits is guaranteed by the most records that are counted.
        let blocks = (bytes.count + Self.blockCount - 1) / Self.blockCount
        bytes += [UInt8](repeating: 0, count: blocks * Self.blockCount - bytes.count)
        return (bytes, (1 - newer) * Self.slotCount)
    }
}
