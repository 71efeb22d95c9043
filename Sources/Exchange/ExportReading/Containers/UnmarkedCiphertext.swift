internal import Exports
internal import WatchwordCryptography
internal import WatchwordSystem

/// Encrypted exports without fixed bytes, which can be told apart only with the password: andOTP,
/// Authenticator Plus' database, OTPClient 1.
enum UnmarkedCiphertext {
    /// The shortest file: andOTP's nonce and tag.
    private static let minimumCount = 28

    static func read(_ file: SecretBytes, password: SecretBytes?) throws(ExportError) -> ExportRows
    {
        guard file.count >= minimumCount else { throw .unknownFormat }
        guard let password else { throw .passwordNeeded(nil) }
        if let json = try plaintext(try AndOTPContainer.open(file, password: password)) {
            return try JSONFormat.andOTP.read(try readExportJSON(json, .andOTP), nil)
        }
        if let database = try plaintext(
            try AuthenticatorPlusContainer.open(file, password: password))
        {
            return try DatabaseFormat.read(database)
        }
        if let json = try plaintext(try OTPClientContainer.open(file, password: password)) {
            return try JSONFormat.otpClient.read(try readExportJSON(json, .otpClient), nil)
        }
        throw .wrongPassword(nil)
    }

    /// The result of an attempt, or `nil` if the file is not of that format.
    private static func plaintext(
        _ attempt: @autoclosure () throws(ExportError) -> SecretBytes
    ) throws(ExportError) -> SecretBytes? {
        do { return try attempt() } catch {
            switch error {
            case .wrongPassword, .damaged: return nil
            default: throw error
            }
        }
    }
}

/// andOTP's encrypted JSON, which has no fixed bytes.
enum AndOTPContainer {
    /// The iteration counts by which the new form is recognised.
    private static let iterations: ClosedRange<UInt64> = 1_000...10_000_000

    /// Returns the decrypted JSON.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        // The first bytes of the old form are random and may look like a number of iterations.
        if let new = try ifKeyIsRight(openNew(file, password)), let json = new { return json }
        var parts = BinaryParts(file, .andOTP)
        let nonce = try parts.take(12)
        let sealed = try parts.rest()
        let decryption = Decryption(.andOTP)
        let key = decryption.digest(.sha256, of: password)
        return try decryption.openGCM(sealed, key: key, nonce: nonce)
    }

    /// Returns `nil` if the file does not begin with a number of iterations.
    private static func openNew(
        _ file: SecretBytes, _ password: SecretBytes
    ) throws(ExportError) -> SecretBytes? {
        var parts = BinaryParts(file, .andOTP)
        let iterations = try parts.number(width: 4)
        guard Self.iterations.contains(iterations), file.count >= 44 else { return nil }
        let salt = try parts.take(12)
        let nonce = try parts.take(12)
        let sealed = try parts.rest()
        let decryption = Decryption(.andOTP)
        let key = try decryption.pbkdf2(.sha1, password, salt: salt, iterations: iterations)
        return try decryption.openGCM(sealed, key: key, nonce: nonce)
    }
}

/// Authenticator Plus' database, encrypted by SQLCipher 3.
enum AuthenticatorPlusContainer {
    private static let pageCount = 1024
    /// The vector, the code and 12 unused bytes at the end of each page.
    private static let reserved = 48
    private static let saltCount = 16
    private static let codeCount = 20

    /// Returns the SQLite database; its pages keep the reserved bytes.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        guard file.count > 0, file.count.isMultiple(of: pageCount) else {
            throw .damaged(.authenticatorPlus)
        }
        let decryption = Decryption(.authenticatorPlus)
        let salt = file.part(0..<saltCount)
        let key = try decryption.pbkdf2(.sha1, password, salt: salt, iterations: 64_000)
        let codeSalt = SecretBytes(capacity: saltCount) { output in
            salt.withBytes { for index in $0.indices { output.append($0[index] ^ 0x3A) } }
        }
        let codeKey = try decryption.pbkdf2(.sha1, key, salt: codeSalt, iterations: 2)
        return try SecretBytes(capacity: file.count) { output throws(ExportError) in
            for byte in "SQLite format 3\0".utf8 { output.append(byte) }
            for page in 0..<(file.count / pageCount) {
                let start = page * pageCount
                let plaintext = try open(
                    file.part((start + (page == 0 ? saltCount : 0))..<(start + pageCount)),
                    page: page, key, codeKey, decryption)
                plaintext.withBytes { output.append(copying: $0) }
            }
        }
    }

    /// The page with its ciphertext replaced by the plaintext.
    private static func open(
        _ page: SecretBytes, page index: Int, _ key: SecretBytes, _ codeKey: SecretBytes,
        _ decryption: Decryption
    ) throws(ExportError) -> SecretBytes {
        let textEnd = page.count - reserved
        let vectorEnd = textEnd + 16
        let number = (0..<4).map { UInt8(truncatingIfNeeded: (index + 1) >> (8 * $0)) }
        try decryption.verify(
            page.part(vectorEnd..<(vectorEnd + codeCount)), .sha1, key: codeKey,
            of: SecretBytes(joining: [page.part(0..<vectorEnd), SecretBytes(number)]))
        let plaintext = try decryption.openCBC(
            page.part(0..<textEnd), key: key, vector: page.part(textEnd..<vectorEnd),
            hasPadding: false)
        return SecretBytes(joining: [plaintext, page.part(textEnd..<page.count)])
    }
}

/// OTPClient's database, versions 1 to 3.
enum OTPClientContainer {
    private static let magic = SecretBytes(Array("OTPClient".utf8))

    /// Returns the JSON.
    ///
    /// A file without the magic number is of version 1.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let header = try Header(file)
        do {
            return try header.open(file, password)
        } catch .wrongPassword where header.version < 3 && !password.isASCII {
            // The app passed the number of characters as the number of bytes.
            guard let text = password.decodedText() else { throw .wrongPassword(.otpClient) }
            return try header.open(file, password.part(0..<text.unicodeScalars.count))
        }
    }

    private struct Header {
        let version: UInt64
        /// The length, with the magic number.
        private let count: Int
        private let nonce: SecretBytes
        private let salt: SecretBytes
        /// Argon2's passes, memory in KiB and lanes.
        private var costs: [UInt64] = []

        init(_ file: SecretBytes) throws(ExportError) {
            var parts = BinaryParts(file, .otpClient)
            let hasMagic = file.count >= 9 && file.part(0..<9) == OTPClientContainer.magic
            var version: UInt64 = 1
            if hasMagic {
                try parts.skip(9)
                version = try parts.number(width: 4)
            }
            if hasMagic, version != 3 {
                // Version 2 continues with three zero bytes and has little-endian numbers.
                parts = BinaryParts(file, .otpClient, .littleEndian)
                try parts.skip(12)
                version = try parts.number(width: 4)
                guard version == 2 else { throw .newerVersion(.otpClient) }
            }
            self.version = version
            nonce = try parts.take(16)
            salt = try parts.take(32)
            if hasMagic {
                for _ in 0..<3 { costs.append(try parts.number(width: 4)) }
            }
            count = parts.position
            guard parts.remaining >= 16 else { throw .damaged(.otpClient) }
        }

        func open(
            _ file: SecretBytes, _ password: SecretBytes
        ) throws(ExportError) -> SecretBytes {
            let decryption = Decryption(.otpClient)
            let key =
                version == 1
                ? try decryption.pbkdf2(.sha512, password, salt: salt, iterations: 100_000)
                : try decryption.derive(
                    Argon2(.id, kibibytes: costs[1], passes: costs[0], lanes: costs[2]), password,
                    salt: salt)
            return try decryption.openGCM(
                file.part(count..<file.count), key: key, nonce: nonce,
                associatedData: file.part(0..<count).withBytes { [UInt8](copying: $0) })
        }
    }
}
