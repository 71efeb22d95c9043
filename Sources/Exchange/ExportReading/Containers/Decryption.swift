internal import Exports
internal import WatchwordCryptography

/// Decrypts for one format and reports every failure as an error of this format.
struct Decryption {
    let format: ExportFormat

    init(_ format: ExportFormat) { self.format = format }

    /// Opens AES-256-GCM: the ciphertext and the tag.
    func openGCM(
        _ sealed: SecretBytes, key: SecretBytes, nonce: SecretBytes, associatedData: [UInt8] = []
    ) throws(ExportError) -> SecretBytes {
        guard nonce.count > 0, key.count == SealingKey.keyCount else { throw .damaged(format) }
        let key = SealingKey(key)
        return try attempt {
            try sealed.withBytes { sealed in
                try nonce.withBytes { nonce in
                    try key.open(sealed, nonce: nonce, associatedData: associatedData.span)
                }
            }
        }
    }

    /// Decrypts AES-CBC and removes the PKCS #7 padding.
    ///
    /// One wrong password in about 256 is not noticed.
    func openCBC(
        _ ciphertext: SecretBytes, key: SecretBytes, vector: SecretBytes, hasPadding: Bool = true
    ) throws(ExportError) -> SecretBytes {
        try attempt {
            try ciphertext.withBytes { ciphertext in
                try vector.withBytes { vector in
                    try decryptAES(
                        ciphertext, mode: .cbc, key: key, vector: vector, hasPadding: hasPadding)
                }
            }
        }
    }

    /// Decrypts with a cipher of libgcrypt or libsodium.
    func open(
        _ ciphertext: SecretBytes, key: SecretBytes, nonce: SecretBytes,
        with cipher: (Span<UInt8>, SecretBytes, Span<UInt8>) throws -> SecretBytes
    ) throws(ExportError) -> SecretBytes {
        try attempt {
            try ciphertext.withBytes { ciphertext in
                try nonce.withBytes { nonce in try cipher(ciphertext, key, nonce) }
            }
        }
    }

    func digest(_ algorithm: HashAlgorithm, of secret: SecretBytes) -> SecretBytes {
        algorithm.digest(of: secret)
    }

    /// The HMAC of `message`.
    func authenticationCode(
        _ algorithm: HashAlgorithm, key: SecretBytes, of message: SecretBytes
    ) -> [UInt8] {
        message.withBytes { hmac(algorithm, key: key, message: $0) }
    }

    /// Checks the HMAC of `message`.
    func verify(
        _ code: SecretBytes, _ algorithm: HashAlgorithm, key: SecretBytes, of message: SecretBytes
    ) throws(ExportError) {
        let expected = authenticationCode(algorithm, key: key, of: message)
        guard code.withBytes({ isEqualInConstantTime($0, expected.span) }) else {
            throw .wrongPassword(format)
        }
    }

    /// Runs an operation of a cryptographic library, and reports its error as an error of the
    /// format.
    func attempt<Value>(_ operation: () throws -> Value) throws(ExportError) -> Value {
        do { return try operation() } catch { throw exportError(error) }
    }

    private func exportError(_ error: any Error) -> ExportError {
        switch error {
        case CryptographyError.notAuthentic, CryptographyError.wrongKey: .wrongPassword(format)
        case CryptographyError.keyLength, CryptographyError.vectorLength,
            CryptographyError.ciphertextLength:
            .damaged(format)
        case let error as ContainerError: ExportError(error, in: format)
        // The only call of OpenSSL here that needs much memory.
        case let failure as CryptographyFailure where failure.call == .scrypt: .outOfMemory
        default: unsupported
        }
    }

    /// A library lacks an algorithm.
    var unsupported: ExportError { .unreadable(format, .unsupportedAlgorithm) }
}

// The costs of a file are checked before memory or time is spent. They are authenticated at best
// with the derived key, so these ceilings are the only protection.
extension Decryption {
    private var limits: ExportLimits { .current }

    func pbkdf2(
        _ algorithm: HashAlgorithm, _ password: SecretBytes, salt: SecretBytes, iterations: UInt64,
        count: Int = 32
    ) throws(ExportError) -> SecretBytes {
        guard iterations > 0 else { throw .damaged(format) }
        try check(.iterations, iterations, limits.iterations)
        return try attempt {
            try salt.withBytes { salt in
                try WatchwordCryptography.pbkdf2(
                    algorithm, password: password, salt: salt, iterations: Int(iterations),
                    count: count)
            }
        }
    }

    /// A cost of scrypt that is within the limits.
    ///
    /// - Parameter derivations: The maximum number of derivations with this cost.
    func scryptCost(
        n: UInt64, r: UInt64, p: UInt64, derivations: Int
    ) throws(ExportError) -> ScryptCost {
        guard n >= 2, n.nonzeroBitCount == 1, r > 0, p > 0 else { throw .damaged(format) }
        try check(.blockSize, r, 32)
        try check(.parallelism, p, ExportLimits.scryptParallelism)
        // RFC 7914, section 6.
        guard n.trailingZeroBitCount < 16 * Int(r) else { throw .damaged(format) }
        let (memory, isTooLarge) = n.multipliedReportingOverflow(by: 128 * r)
        try check(.memory, isTooLarge ? .max : memory, limits.memory)
        try check(.parallelism, p * UInt64(derivations), limits.scryptWork / memory)
        return ScryptCost(
            checkedLogN: n.trailingZeroBitCount, blockSize: Int(r), parallelism: Int(p))
    }

    func scrypt(
        _ password: SecretBytes, salt: SecretBytes, _ cost: ScryptCost
    ) throws(ExportError) -> SecretBytes {
        try attempt {
            try salt.withBytes { salt in
                try WatchwordCryptography.scrypt(
                    passphrase: password, salt: salt, cost: cost, count: 32)
            }
        }
    }

    /// Derives a key with Argon2.
    func derive(
        _ argon2: Argon2, _ password: SecretBytes, salt: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        guard argon2.passes > 0, argon2.lanes > 0, (8...1024).contains(salt.count) else {
            throw .damaged(format)
        }
        try check(.parallelism, argon2.lanes, ExportLimits.argon2Lanes)
        try check(.iterations, argon2.passes, ExportLimits.argon2Passes)
        guard argon2.kibibytes >= 8 * argon2.lanes else { throw .damaged(format) }
        let (bytes, isTooLarge) = argon2.kibibytes.multipliedReportingOverflow(by: 1024)
        try check(.memory, isTooLarge ? .max : bytes, limits.memory)
        try check(.iterations, argon2.passes, limits.argon2Work / bytes)
        return try attempt {
            try salt.withBytes { try argon2.key(from: password, salt: $0, count: 32) }
        }
    }

    /// Derives a key with KeePass' AES-KDF.
    func aesKDF(
        _ key: SecretBytes, seed: SecretBytes, rounds: UInt64
    ) throws(ExportError) -> SecretBytes {
        try check(.iterations, rounds, limits.rounds)
        let encrypted = try attempt { try encryptRepeatedly(key, key: seed, rounds: rounds) }
        return digest(.sha256, of: encrypted)
    }

    private func check(
        _ limit: ExportLimit, _ found: UInt64, _ allowed: UInt64
    ) throws(ExportError) {
        guard found <= allowed else {
            throw .overLimit(format, limit, found: found, allowed: allowed)
        }
    }
}

// Formats without a MAC accept one wrong password in about 256 by its padding alone, so the
// plaintext must be plausible as well.
extension Decryption {
    /// Returns `text` if it may be JSON: UTF-8 that begins like an object or a list.
    ///
    /// - Throws: ``ExportError/wrongPassword(_:)``.
    func checkedJSON(_ text: SecretBytes) throws(ExportError) -> SecretBytes {
        let first = text.withBytes { text in
            text.indices.first { ![0x09, 0x0A, 0x0D, 0x20].contains(text[$0]) }.map { text[$0] }
        }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            throw .wrongPassword(format)
        }
        return try checkedText(text)
    }

    /// Returns `text` if it is UTF-8 without control characters other than tabs and line breaks.
    ///
    /// - Throws: ``ExportError/wrongPassword(_:)``.
    func checkedText(_ text: SecretBytes) throws(ExportError) -> SecretBytes {
        guard text.count > 0, text.withBytes({ $0.isText }) else { throw .wrongPassword(format) }
        return text
    }
}

/// The result of an attempt to decrypt; `nil` if the key or the password is wrong.
func ifKeyIsRight<Value>(
    _ attempt: @autoclosure () throws(ExportError) -> Value
) throws(ExportError) -> Value? {
    do { return try attempt() } catch .wrongPassword { return nil }
}
