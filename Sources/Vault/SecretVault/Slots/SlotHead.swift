internal import Devices

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
        /// A secret that a TPM has sealed, from which HKDF derives a key.
        case tpm2(TPMObject, salt: [UInt8])
        /// The secret of an authenticator's credential, from which HKDF derives a key.
        case fido2(FIDOCredential, salt: [UInt8])
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
        case .tpm2: text.write("tpm2-sealed ")
        case .fido2: text.write("fido2-hmac-secret ")
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
        case .tpm2(let object, let salt):
            text.write(object.requiresPIN ? "pin " : "no-pin ")
            text.write(object.isBoundToPCR7 ? "pcr7 " : "no-pcr ")
            for part in [salt, object.publicArea, object.privateArea] {
                text.writeBase64(part)
                text.write(" ")
            }
        case .fido2(let credential, let salt):
            text.write(credential.requiresPIN ? "pin " : "no-pin ")
            text.write(credential.relyingParty + " ")
            for part in [salt, credential.id, credential.salt] {
                text.writeBase64(part)
                text.write(" ")
            }
        case .other: break
        }
        return text.bytes
    }
}
