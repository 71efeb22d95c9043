public import Devices

/// One way to open the vault, as shown in a list.
public struct SlotSummary: Hashable, Sendable {
    /// The method that opens a slot.
    public enum Method: Hashable, Sendable {
        /// A passphrase, with the base-2 logarithm of scrypt's N: the cost of a guess.
        case passphrase(logN: Int)
        /// A recovery key.
        case recoveryKey
        /// A secret that this TPM has sealed.
        case tpm2(TPMObject)
        /// The secret of this credential of an authenticator.
        case fido2(FIDOCredential)
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

    /// Whether it opens the vault on every device that has the file.
    public var isPortable: Bool {
        switch method {
        case .passphrase, .recoveryKey: true
        case .tpm2, .fido2, .other: false
        }
    }

    /// Whether it opens only if a person is there: a TPM without a PIN opens without one.
    public var provesPresence: Bool {
        if case .tpm2(let object) = method { object.requiresPIN } else { true }
    }

    init(_ slot: Slot) {
        let method: Method =
            switch slot.method {
            case .passphrase(let logN, _): .passphrase(logN: logN)
            case .recoveryKey: .recoveryKey
            case .tpm2(let object, _): .tpm2(object)
            case .fido2(let credential, _): .fido2(credential)
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
