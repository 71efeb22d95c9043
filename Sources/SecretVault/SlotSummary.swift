/// One way to open the vault, as a list shows it.
public struct SlotSummary: Hashable, Sendable {
    /// What the slot is opened by.
    public enum Method: Hashable, Sendable {
        /// A passphrase; the base-two logarithm of scrypt's N says what a guess costs.
        case passphrase(logN: Int)
        /// A recovery key.
        case recoveryKey
        /// Something that a newer Watchword knows, by its name in the file.
        case other(String)
    }

    /// Its number in this vault.
    public let number: Int
    /// What it is opened by.
    public let method: Method
    /// When it was made, in Unix seconds.
    public let created: Int64
    /// The slot's public half: a number may be given again, a random pair is not.
    private let publicKey: [UInt8]

    init(_ slot: Slot) {
        number = slot.number
        created = slot.created
        publicKey = slot.head.publicKey
        method =
            switch slot.method {
            case .passphrase(let logN, _): .passphrase(logN: logN)
            case .recoveryKey: .recoveryKey
            case .other(let word): .other(String(decoding: word, as: UTF8.self))
            }
    }
}
