internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// Portable Symmetric Key Containers (RFC 6030).
///
/// Signatures are not verified. Keys that are encrypted with X.509 certificates or RSA are not
/// read. The drafts of the RFC, which makers of tokens used before it, name some elements
/// differently.
enum PSKCFormat {
    /// Reads a container.
    ///
    /// - Parameter password: The password, or the pre-shared key in hexadecimal digits.
    static func read(
        _ container: XMLElement, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard container.name == "KeyContainer" else { throw .damaged(.pskc) }
        let version = container.attributeString("Version") ?? "1.0"
        guard version == "1" || version.hasPrefix("1.") else { throw .newerVersion(.pskc) }
        let opener = try PSKCDecryption(container, password: password)
        var rows = ExportRows(.pskc)
        let packages =
            container.children(named: "KeyPackage") + container.children(named: "Device")
        for package in packages {
            for key in package.children(named: "Key") {
                let secret = try value(key["Data"]?["Secret"], opener)
                let counter = try number(key["Data"]?["Counter"], opener)
                let interval = try number(key["Data"]?["TimeInterval"], opener)
                try rows.append { row throws(ExportRowRefusal) in
                    row.counter = counter
                    row.period = interval
                    if let secret { row.secret = .bytes(secret) }
                    try fill(&row, key, device: package["DeviceInfo"])
                }
            }
        }
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ key: XMLElement, device: XMLElement?
    ) throws(ExportRowRefusal) {
        row.issuer = key["Issuer"]?.token ?? ""
        row.account =
            [key["UserId"], device?["UserId"], key["FriendlyName"], device?["SerialNo"]]
            .lazy.compactMap { $0?.token }.first { !$0.isEmpty } ?? ""
        let algorithm =
            key.attributeString("Algorithm") ?? key.attributeString("KeyAlgorithm") ?? ""
        switch algorithm.asciiLowercased.split(whereSeparator: { $0 == ":" || $0 == "#" }).last {
        case "hotp": row.kind = .hotp
        case "totp": row.kind = .totp
        // PINs, OCRA and other kinds of keys.
        default: throw .unknownType
        }
        guard let parameters = key["AlgorithmParameters"] ?? key["Usage"] else { return }
        row.algorithm = parameters["Suite"]?.token
        guard let response = parameters["ResponseFormat"] else { return }
        let encoding = response.attributeString("Encoding") ?? "DECIMAL"
        guard encoding.asciiLowercased == "decimal" else { throw .unknownType }
        row.digits = ExportRow.Number(response.attributeString("Length") ?? "")
    }

    /// A value, plain in Base64 or encrypted; `nil` if there is none.
    private static func value(
        _ element: XMLElement?, _ opener: PSKCDecryption
    ) throws(ExportError) -> SecretBytes? {
        if let plain = element?["PlainValue"] {
            guard let value = plain.text.decodedBase64Lines() else { throw .damaged(.pskc) }
            return value
        }
        guard let element, element["EncryptedValue"] != nil else { return nil }
        return try opener.open(element)
    }

    /// A number, plain in decimal digits; encrypted, as such digits or as big-endian bytes.
    private static func number(
        _ element: XMLElement?, _ opener: PSKCDecryption
    ) throws(ExportError) -> ExportRow.Number {
        if let plain = element?["PlainValue"] { return ExportRow.Number(plain.token) }
        guard let element, element["EncryptedValue"] != nil else { return .absent }
        let bytes = try opener.open(element)
        return bytes.withBytes { bytes in
            let digits = bytes.indices.allSatisfy { (0x30...0x39).contains(bytes[$0]) }
            if digits && bytes.count > 0 {
                return ExportRow.Number(String(decoding: [UInt8](copying: bytes), as: UTF8.self))
            }
            guard (1...8).contains(bytes.count) else { return .malformed }
            var number: UInt64 = 0
            for index in bytes.indices { number = number << 8 | UInt64(bytes[index]) }
            return Int64(exactly: number).map { .value($0) } ?? .large(number)
        }
    }
}

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
    /// AES key wrap (RFC 3394).
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
            return try decryption.attempt {
                try ciphertext.withBytes { try unwrapKey($0, with: key) }
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
