internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// Opens the encrypted values of a key container (RFC 6030, section 6).
struct PSKCDecryption {
    private let decryption = Decryption(.pskc)
    private let password: SecretBytes?
    /// The key and the way to check values; `nil` if nothing is encrypted.
    private let keys: Keys?

    private struct Keys {
        let key: SecretBytes
        /// `nil` if values have no code.
        let code: (algorithm: HashAlgorithm, key: SecretBytes)?
    }

    /// - Parameter password: The password, or the pre-shared key in hexadecimal digits.
    init(_ container: XMLElement, password: SecretBytes?) throws(ExportError) {
        self.password = password
        guard let encryption = container["EncryptionKey"] else {
            keys = nil
            return
        }
        guard let password else { throw .passwordNeeded(.pskc) }
        let key: SecretBytes
        if let derived = encryption["DerivedKey"] {
            key = try Self.derive(derived, password, decryption)
        } else if encryption["KeyName"] != nil {
            let digits = password.withBytes { password.part($0.rangeWithoutSpaces) }
            guard let decoded = digits.decodedHex(), [16, 24, 32].contains(decoded.count) else {
                throw .wrongPassword(.pskc)
            }
            key = decoded
        } else {
            throw .unreadable(.pskc, .publicKeyEncryption)
        }
        keys = Keys(key: key, code: try Self.code(container, key, decryption))
    }

    /// The plaintext of `EncryptedValue`, checked with `ValueMAC`.
    func open(_ element: XMLElement) throws(ExportError) -> SecretBytes {
        guard let value = element["EncryptedValue"], let keys else { throw .damaged(.pskc) }
        let ciphertext = try Self.ciphertext(of: value)
        let cipher = try Cipher(value)
        guard let code = keys.code, let written = element["ValueMAC"] else {
            return try cipher.open(ciphertext, key: keys.key, decryption)
        }
        guard let written = written.text.decodedBase64Lines() else { throw .damaged(.pskc) }
        func isAuthentic(_ message: SecretBytes) -> Bool {
            let expected = decryption.authenticationCode(
                code.algorithm, key: code.key, of: message)
            return written.withBytes { isEqualInConstantTime($0, expected.span) }
        }
        if isAuthentic(ciphertext) {
            return try cipher.open(ciphertext, key: keys.key, decryption)
        }
        // Some writers compute the code over the plaintext.
        let plaintext = try cipher.open(ciphertext, key: keys.key, decryption)
        guard isAuthentic(plaintext) else { throw .wrongPassword(.pskc) }
        return plaintext
    }

    private static func ciphertext(of value: XMLElement) throws(ExportError) -> SecretBytes {
        guard let text = value["CipherData"]?["CipherValue"]?.text,
            let bytes = text.decodedBase64Lines()
        else { throw .damaged(.pskc) }
        return bytes
    }

    /// Derives the key with PBKDF2.
    private static func derive(
        _ element: XMLElement, _ password: SecretBytes, _ decryption: Decryption
    ) throws(ExportError) -> SecretBytes {
        guard let method = element["KeyDerivationMethod"],
            method.attributeString("Algorithm")?.asciiLowercased.hasSuffix("#pbkdf2") == true
        else { throw .unreadable(.pskc, .unsupportedAlgorithm) }
        guard let parameters = method["PBKDF2-params"],
            let salt = parameters["Salt"]?["Specified"]?.text.decodedBase64Lines(),
            let iterations = UInt64(parameters["IterationCount"]?.token ?? ""),
            let count = Int(parameters["KeyLength"]?.token ?? ""),
            [16, 24, 32].contains(count)
        else { throw .damaged(.pskc) }
        let function = parameters["PRF"]?.attributeString("Algorithm") ?? ""
        let algorithm = function.isEmpty ? .sha1 : try Self.algorithm(ofURI: function)
        return try decryption.pbkdf2(
            algorithm, password, salt: salt, iterations: iterations, count: count)
    }

    /// Opens the key of the codes; without one, the encryption key is used.
    private static func code(
        _ container: XMLElement, _ key: SecretBytes, _ decryption: Decryption
    ) throws(ExportError) -> (algorithm: HashAlgorithm, key: SecretBytes)? {
        guard let method = container["MACMethod"] else {
            // The element of the drafts.
            guard let uri = container["MACAlgorithm"]?.token else { return nil }
            return (try algorithm(ofURI: uri), key)
        }
        let algorithm = try algorithm(ofURI: method.attributeString("Algorithm") ?? "")
        guard let wrapped = method["MACKey"] else { return (algorithm, key) }
        let opened = try Cipher(wrapped).open(
            try ciphertext(of: wrapped), key: key, decryption)
        return (algorithm, opened)
    }

    /// The hash function of an HMAC's identifier, such as
    /// `http://www.w3.org/2000/09/xmldsig#hmac-sha1`.
    private static func algorithm(ofURI uri: String) throws(ExportError) -> HashAlgorithm {
        let name = uri.split(separator: "#").last ?? ""
        guard let algorithm = HashAlgorithm(spelling: String(name)) else {
            throw .unreadable(.pskc, .unsupportedAlgorithm)
        }
        return algorithm
    }
}

/// A cipher of XML Encryption.
private enum Cipher {
    /// AES-CBC; the first block is the vector, and only the last byte of the padding counts.
    case cbc(keyCount: Int)
    /// AES key wrap.
    case wrap(keyCount: Int)

    /// The cipher that `EncryptionMethod` names.
    init(_ value: XMLElement) throws(ExportError) {
        let method = value["EncryptionMethod"]
        // The drafts name the cipher within the method, which is then PBES2.
        let uri = (method?["EncryptionScheme"] ?? method)?.attributeString("Algorithm") ?? ""
        switch String(uri.split(separator: "#").last ?? "").asciiLowercased {
        case "aes128-cbc": self = .cbc(keyCount: 16)
        case "aes192-cbc": self = .cbc(keyCount: 24)
        case "aes256-cbc": self = .cbc(keyCount: 32)
        case "kw-aes128": self = .wrap(keyCount: 16)
        case "kw-aes192": self = .wrap(keyCount: 24)
        case "kw-aes256": self = .wrap(keyCount: 32)
        default: throw .unreadable(.pskc, .unsupportedAlgorithm)
        }
    }

    func open(
        _ ciphertext: SecretBytes, key: SecretBytes, _ decryption: Decryption
    ) throws(ExportError) -> SecretBytes {
        switch self {
        case .cbc(let keyCount), .wrap(let keyCount):
            guard key.count == keyCount else { throw .wrongPassword(.pskc) }
        }
        switch self {
        case .cbc: return try openCBC(ciphertext, key: key, decryption)
        case .wrap:
            do {
                return try ciphertext.withBytes { bytes throws(DecryptionError) in
                    try unwrapKey(bytes, with: key)
                }
            } catch {
                throw decryption.exportError(error)
            }
        }
    }

    private func openCBC(
        _ ciphertext: SecretBytes, key: SecretBytes, _ decryption: Decryption
    ) throws(ExportError) -> SecretBytes {
        let block = 16
        guard ciphertext.count >= 2 * block else { throw .damaged(.pskc) }
        let padded = try decryption.openCBC(
            ciphertext.part(block..<ciphertext.count), key: key,
            vector: ciphertext.part(0..<block), hasPadding: false)
        let padding = padded.withBytes { Int($0[$0.count - 1]) }
        guard (1...block).contains(padding) else { throw .wrongPassword(.pskc) }
        return padded.part(0..<(padded.count - padding))
    }
}
