/// The most that is read or written, so that no number in a file decides how much work is done.
enum VaultLimits {
    static let fileSize = 64 << 20
    static let entries = 100_000
    static let slots = 16
    /// The base-two logarithm of the most that an unlocking may cost, whatever its caller allows: sixteen
    /// slots with scrypt's N = 2^24.
    static let unlockCeiling = 28
    static let nameSize = 4096
    static let secretSize = 65_536
    static let number = UInt64(Int64.max)
    static let generation: UInt64 = 1 << 62
    /// How many generations a file may lag behind its mark and the mark still be believed.
    static let missedGenerations: UInt64 = 1 << 32
}
