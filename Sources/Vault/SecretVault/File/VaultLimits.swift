/// Upper limits for reading and writing, so that a number in a file cannot cause an unlimited
/// amount of work.
enum VaultLimits {
    static let fileSize = 64 << 20
    static let entries = 100_000
    static let slots = 16
    /// The base-2 logarithm of the highest cost of unlocking that a caller can allow: sixteen slots
    /// with scrypt's N = 2^24.
    static let unlockCeiling = 28
    static let nameSize = 4096
    static let secretSize = 65_536
    static let tags = 64
    static let tagSize = 256
    static let noteSize = 16_384
    static let iconSize = 256
    static let number = UInt64(Int64.max)
    static let generation: UInt64 = 1 << 62
    /// A generation record that is ahead of the file by more generations than this is not trusted.
    static let missedGenerations: UInt64 = 1 << 32
}

/// A limit of the vault format.
public enum VaultLimit: CaseIterable, Hashable, Sendable {
    /// 64 MiB.
    case fileSize
    /// 100,000.
    case entries
    /// 16.
    case slots
    /// 4,096 bytes each for the issuer and the account.
    case name
    /// 90 entries with counted failures at a time.
    case countedEntries
    /// 65,536 bytes for the secret of one entry.
    case secret
    /// 64 tags for one entry.
    case tags
    /// 256 bytes for a tag.
    case tag
    /// 16,384 bytes for a note.
    case note
    /// 256 bytes for the name of an icon.
    case icon
    /// 2^62 generations.
    case generations
    /// 58 MiB for a vault that moves to or from the system agent.
    case parcel
}
