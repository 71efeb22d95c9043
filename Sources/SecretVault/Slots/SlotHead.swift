/// The first part of a slot's line: the method that opens it, and its public key.
///
/// The sealed values on the rest of the line are bound to it.
struct SlotHead {
    /// The method that opens the slot.
    enum Method {
        /// A passphrase, from which scrypt derives a key.
        case passphrase(logN: Int, salt: [UInt8])
        /// 256 random bits, from which HKDF derives a key.
        case recoveryKey(salt: [UInt8])
        /// The name of a method that this version does not support.
        case other([UInt8])
    }

    /// Its number in this vault, from 1.
    ///
    /// The number of a removed slot may be reused.
    let number: Int
    /// When it was created, in Unix seconds.
    let created: Int64
    let method: Method
    /// The slot's public key, to which the vault key is sealed.
    let publicKey: [UInt8]

    /// This part of the line, including the space after it.
    var text: [UInt8] {
        var text = VaultText()
        text.write("slot \(number) \(created) ")
        switch method {
        case .passphrase: text.write("passphrase ")
        case .recoveryKey: text.write("recovery-key ")
        case .other(let word):
            text.write(word)
            text.write(" ")
        }
        text.writeBase64(publicKey)
        text.write(" ")
        switch method {
        case .passphrase(let logN, let salt):
            text.write("\(logN) 8 1 ")
            text.writeBase64(salt)
            text.write(" ")
        case .recoveryKey(let salt):
            text.writeBase64(salt)
            text.write(" ")
        case .other: break
        }
        return text.bytes
    }
}
