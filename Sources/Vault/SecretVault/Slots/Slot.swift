public import Devices
internal import WatchwordCryptography
internal import WatchwordSystem

/// One way to open the vault: a key pair whose private key is sealed under a passphrase, a recovery
/// key or the secret of a device.
///
/// The vault key is sealed to the public key, so the vault can be given a new key while it is open,
/// without any passphrase or recovery key (see ``VaultChanges/rekey()``).
struct Slot {
    let head: SlotHead
    /// The sealed slot secret (``SlotSecret``) in Base64; for an unknown method, the words that
    /// take its place.
    let secret: [UInt8]
    /// The vault key, sealed to the public key: an ephemeral public key and a box.
    let vaultKey: [UInt8]

    var number: Int { head.number }
    var created: Int64 { head.created }
    var method: SlotHead.Method { head.method }

    /// Whether the slot opens the vault on every device that has the file.
    var isPortable: Bool {
        switch method {
        case .passphrase, .recoveryKey: true
        case .tpm2, .fido2, .other: false
        }
    }

    static let saltCount = 16
    /// Two sealed keys: nonce, 64 bytes, tag.
    static let secretCount = 92
    /// A public key and a sealed key.
    static let vaultKeyCount = 92

    /// The part of the slot's line before the sealed vault key.
    var lead: [UInt8] { head.text + secret + [UInt8(ascii: " ")] }

    func write(to text: inout VaultText) {
        text.write(lead)
        text.writeBase64(vaultKey)
        text.endLine()
    }
}

extension Slot {
    /// Reads a slot's line; the vault key stays sealed.
    init(reading line: inout LineReader) throws(VaultError) {
        try line.skip("slot")
        let number = try line.count()
        guard (1...9999).contains(number) else { throw line.damaged }
        let created = Int64(try line.count())
        let word = try line.word()
        let publicKey = try line.base64(in: line.word(), count: AgreementKey.count)
        let method: SlotHead.Method
        if line.isWord(word, "passphrase") {
            let logN = try line.count()
            guard (10...63).contains(logN), try line.count() == 8, try line.count() == 1 else {
                throw line.damaged
            }
            let salt = try line.base64(in: line.word(), count: Slot.saltCount)
            method = .passphrase(logN: Int(logN), salt: salt)
        } else if line.isWord(word, "recovery-key") {
            method = .recoveryKey(salt: try line.base64(in: line.word(), count: Slot.saltCount))
        } else if line.isWord(word, "tpm2-sealed") {
            method = try Slot.tpm2(reading: &line)
        } else if line.isWord(word, "fido2-hmac-secret") {
            method = try Slot.fido2(reading: &line)
        } else {
            guard Slot.isPrintable(line.bytes[word]) else { throw line.damaged }
            method = .other(Array(line.bytes[word]))
        }
        head = SlotHead(
            number: Int(number), created: created, method: method, publicKey: publicKey)
        let secret = try line.wordsBeforeLast()
        if case .other = method {
            guard Slot.isPrintable(line.bytes[secret]) else { throw line.damaged }
        } else {
            _ = try line.base64(in: secret, count: Slot.secretCount)
        }
        self.secret = Array(line.bytes[secret])
        vaultKey = try line.base64(in: line.lastWord(), count: Slot.vaultKeyCount)
    }

    private static func tpm2(
        reading line: inout LineReader
    ) throws(VaultError) -> SlotHead.Method {
        let requiresPIN = try line.choice("pin", "no-pin")
        let isBoundToPCR7 = try line.choice("pcr7", "no-pcr")
        let salt = try line.base64(in: line.word(), count: Slot.saltCount)
        let object = TPMObject(
            publicArea: try line.base64(in: line.word(), atMost: TPMObject.largestArea),
            privateArea: try line.base64(in: line.word(), atMost: TPMObject.largestArea),
            requiresPIN: requiresPIN, isBoundToPCR7: isBoundToPCR7)
        guard let object else { throw line.damaged }
        return .tpm2(object, salt: salt)
    }

    private static func fido2(
        reading line: inout LineReader
    ) throws(VaultError) -> SlotHead.Method {
        let requiresPIN = try line.choice("pin", "no-pin")
        let relyingParty = try line.word()
        let salt = try line.base64(in: line.word(), count: Slot.saltCount)
        let id = try line.base64(in: line.word(), atMost: FIDOCredential.largestID)
        let credential = FIDOCredential(
            id: id, salt: try line.base64(in: line.word(), count: FIDOCredential.saltCount),
            relyingParty: String(decoding: line.bytes[relyingParty], as: UTF8.self),
            requiresPIN: requiresPIN)
        guard let credential else { throw line.damaged }
        return .fido2(credential, salt: salt)
    }

    private static func isPrintable(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

/// The identity of a set of slots: the SHA-256 digest of a file's slot lines.
///
/// The same passphrases open all copies with the same slots; an older copy may have different
/// slots.
struct SlotsDigest: Hashable {
    let bytes: [UInt8]

    static let count = 32

    /// The 32 bytes of a digest, as stored in the attempts file.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Computes the digest of these slots' lines.
    init(of slots: [Slot]) {
        var text = VaultText()
        for slot in slots { slot.write(to: &text) }
        bytes = sha256(text.bytes.span)
    }

    /// A digest that represents these slots when the file was last opened or saved here with
    /// different slots: refusals counted under it cost only waits.
    func elsewhere() -> SlotsDigest {
        SlotsDigest(sha256((Array("watchword other slots".utf8) + bytes).span))
    }

    /// Whether its bytes come before those of `other`.
    func precedes(_ other: SlotsDigest) -> Bool { bytes.lexicographicallyPrecedes(other.bytes) }
}

extension VaultState {
    /// The digest of the slots, as used in the attempts file.
    func slotsDigest() -> SlotsDigest { SlotsDigest(of: slots.map(\.slot)) }
}

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

    /// The slot's number in this vault, from 1.
    ///
    /// The number of a removed slot may be reused.
    let number: Int
    /// When the slot was created, in Unix seconds.
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

/// A slot, which is one way to open the vault, for display in a list.
public struct SlotSummary: Hashable, Sendable {
    /// The method that opens a slot.
    public enum Method: Hashable, Sendable {
        /// A passphrase, with the base-2 logarithm of scrypt's N: the cost of a guess.
        case passphrase(logN: Int)
        /// A recovery key with 256 random bits.
        case recoveryKey
        /// A secret that this TPM has sealed.
        case tpm2(TPMObject)
        /// The secret that an authenticator computes for this credential.
        case fido2(FIDOCredential)
        /// The name of a method that only a newer version of Watchword supports.
        case other(String)
    }

    /// The slot's number in this vault, from 1; it may be reused after the slot is removed.
    public let number: Int
    /// The method that opens the slot.
    public let method: Method
    /// When the slot was created, in Unix seconds.
    public let created: Int64
    /// The slot's public key, which identifies the slot: unlike a number, a random key is never
    /// reused.
    let publicKey: [UInt8]

    /// Whether the slot opens only if a person is present; a TPM without a PIN opens without a
    /// person.
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

/// The `slots` file: the slots of the vault file when it was last opened or saved here with its
/// key.
///
/// If a file-sync program replaces the vault with a file that has different slots, the owner may
/// not know which passphrase opens that file. The file is written only after the slots have changed
/// for the first time; without it, the slots are unknown.
enum SlotsRecord {
    private static let firstLine = "watchword-slots 1\n"
    private static let sizeLimit = 1024

    private static var file: FileReplacement {
        FileReplacement(of: VaultLocation.slots, beginningWith: Array(firstLine.utf8))
    }

    /// The recorded slots of the vault file at `location`; `nil` if they are unknown.
    static func read(of location: VaultLocation, vaultID: [UInt8]) -> SlotsDigest? {
        ifPossible(try known(of: location, vaultID: vaultID)) ?? nil
    }

    private static func known(of location: VaultLocation, vaultID: [UInt8]) throws -> SlotsDigest? {
        guard let own = try location.openStateFolder() else { return nil }
        let bytes = try own.readPrivateFile(VaultLocation.slots, limit: sizeLimit)
        guard bytes.starts(with: firstLine.utf8) else { return nil }
        var line = LineReader(bytes)
        try line.next()
        try line.next()
        let id = try line.base64(in: line.word(), count: VaultDocument.vaultIDCount)
        let slots = try line.base64(in: line.lastWord(), count: SlotsDigest.count)
        return id == vaultID ? SlotsDigest(slots) : nil
    }

    /// Records the slots of `document`, which the key has authenticated.
    ///
    /// If recording them fails, refusals by these slots cost only waits until the record is
    /// written.
    static func write(_ document: VaultDocument, in own: borrowing Folder) {
        var text = VaultText()
        text.write(firstLine)
        text.writeBase64(document.vaultID)
        text.write(" ")
        text.writeBase64(document.slotsDigest.bytes)
        text.endLine()
        _ = ifPossible(try file.replace(with: text.bytes.span, in: own, previous: .none))
    }

    static func remove(in own: borrowing Folder) {
        _ = ifPossible(try file.remove(in: own))
    }
}
