/// One way to open the vault, as shown in a list.
public struct SlotSummary: Hashable, Sendable {
    /// The method that opens a slot.
    public enum Method: Hashable, Sendable {
        /// A passphrase, with the base-2 logarithm of scrypt's N: the cost of a guess.
        case passphrase(logN: Int)
        /// A recovery key.
        case recoveryKey
        /// The name of a method that only a newer version of Watchword supports.
        case other(String)
    }

    /// Its number in this vault.
    public let number: Int
    /// The method that opens it.
    public let method: Method
    /// When it was created, in Unix seconds.
    public let created: Int64
    /// The slot's public key, which identifies it: a number may be reused, a random key is not.
    let publicKey: [UInt8]

    init(_ slot: Slot) {
        let method: Method =
            switch slot.method {
            case .passphrase(let logN, _): .passphrase(logN: logN)
            case .recoveryKey: .recoveryKey
            case .other(let word): .other(String(decoding: word, as: UTF8.self))
            }
        self.init(
            number: slot.number, method: method, created: slot.created,
            publicKey: slot.head.publicKey)
    }

    init(number: Int, method: Method, created: Int64, publicKey: [UInt8]) {
        self.number = number
        self.method = method
        self.created = created
        self.publicKey = publicKey
    }
}
