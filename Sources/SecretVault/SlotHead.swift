/// The first part of a slot's line: what the slot is opened by, and its public half.
///
/// Whatever is sealed behind it on the line is bound to it.
struct SlotHead {
    /// What the slot is opened by.
    enum Method {
        /// A passphrase, of which scrypt makes a key.
        case passphrase(logN: Int, salt: [UInt8])
        /// 256 random bits, of which HKDF makes a key.
        case recoveryKey(salt: [UInt8])
        /// A method that this version does not know, by its name.
        case other([UInt8])
    }

    /// Its number in this vault, from 1; the number of a removed slot may be given again.
    let number: Int
    /// When it was made, in Unix seconds.
    let created: Int64
    let method: Method
    /// The public half of the slot's key pair, to which the vault key is sealed.
    let publicKey: [UInt8]

    /// This part of the line, the space behind it included.
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
