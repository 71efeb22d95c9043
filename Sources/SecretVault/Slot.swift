/// One way to open the vault: it wraps the vault key under something else.
struct Slot {
    /// What the vault key is wrapped under.
    enum Method {
        /// A key that scrypt makes of the passphrase.
        case passphrase(logN: Int, salt: [UInt8], wrapped: [UInt8])
        /// A key that HKDF makes of 256 random bits.
        case recoveryKey(salt: [UInt8], wrapped: [UInt8])
        /// A method this version does not know; it is kept as it is, and takes part in nothing.
        case other(word: [UInt8], rest: [UInt8])
    }

    /// Its number in this vault, from 1; the number of a removed slot may be given again.
    let number: Int
    /// When it was made, in Unix seconds.
    let created: Int64
    let method: Method

    /// Whether it opens the vault on any device that has the file.
    var isPortable: Bool {
        switch method {
        case .passphrase, .recoveryKey: true
        case .other: false
        }
    }

    static let saltCount = 16
    /// The vault key sealed: nonce, 32 bytes, tag.
    static let wrappedCount = 60

    /// The line up to the wrapped key, which is what the wrapping vouches for.
    static func lead(number: Int, created: Int64, logN: Int, salt: [UInt8]) -> [UInt8] {
        var text = VaultText()
        text.write("slot \(number) \(created) passphrase \(logN) 8 1 ")
        text.writeBase64(salt)
        text.write(" ")
        return text.bytes
    }

    /// The same for a recovery key's slot.
    static func lead(number: Int, created: Int64, salt: [UInt8]) -> [UInt8] {
        var text = VaultText()
        text.write("slot \(number) \(created) recovery-key ")
        text.writeBase64(salt)
        text.write(" ")
        return text.bytes
    }

    /// Writes the slot's line.
    func write(to text: inout VaultText) {
        switch method {
        case .passphrase(let logN, let salt, let wrapped):
            text.write(Slot.lead(number: number, created: created, logN: logN, salt: salt))
            text.writeBase64(wrapped)
        case .recoveryKey(let salt, let wrapped):
            text.write(Slot.lead(number: number, created: created, salt: salt))
            text.writeBase64(wrapped)
        case .other(let word, let rest):
            text.write("slot \(number) \(created) ")
            text.write(word)
            text.write(" ")
            text.write(rest)
        }
        text.endLine()
    }
}

extension Slot {
    /// Reads a slot's line.
    init(reading line: inout LineReader) throws(VaultError) {
        try line.skip("slot")
        let number = try line.count()
        guard (1...9999).contains(number) else { throw line.damaged }
        self.number = Int(number)
        created = Int64(try line.count())
        let word = try line.word()
        if line.isWord(word, "passphrase") {
            let logN = try line.count()
            guard (10...63).contains(logN), try line.count() == 8, try line.count() == 1 else {
                throw line.damaged
            }
            let salt = try line.base64(in: line.word(), count: Slot.saltCount)
            let wrapped = try line.base64(in: line.lastWord(), count: Slot.wrappedCount)
            method = .passphrase(logN: Int(logN), salt: salt, wrapped: wrapped)
        } else if line.isWord(word, "recovery-key") {
            let salt = try line.base64(in: line.word(), count: Slot.saltCount)
            let wrapped = try line.base64(in: line.lastWord(), count: Slot.wrappedCount)
            method = .recoveryKey(salt: salt, wrapped: wrapped)
        } else {
            let rest = line.rest()
            guard Slot.isPrintable(line.bytes[word]), Slot.isPrintable(line.bytes[rest]) else {
                throw line.damaged
            }
            method = .other(word: Array(line.bytes[word]), rest: Array(line.bytes[rest]))
        }
    }

    private static func isPrintable(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
