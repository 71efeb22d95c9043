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
        guard nonce.count > 0 else { throw .damaged(format) }
        return try attempt {
            let key = try SealingKey(key)
            return try sealed.withBytes { sealed in
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

    /// The digest of a secret.
    func digest(
        _ algorithm: HashAlgorithm, of secret: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        try attempt { try algorithm.digest(of: secret) }
    }

    /// The HMAC of `message`.
    func authenticationCode(
        _ algorithm: HashAlgorithm, key: SecretBytes, of message: SecretBytes
    ) throws(ExportError) -> [UInt8] {
        try attempt {
            try message.withBytes { try hmac(algorithm, key: key, message: $0) }
        }
    }

    /// Checks the HMAC of `message`.
    func verify(
        _ code: SecretBytes, _ algorithm: HashAlgorithm, key: SecretBytes, of message: SecretBytes
    ) throws(ExportError) {
        let expected = try authenticationCode(algorithm, key: key, of: message)
        guard code.withBytes({ isEqualInConstantTime($0, expected.span) }) else {
            throw .wrongPassword(format)
        }
    }

    /// Runs an operation of a cryptographic library, and reports its error as one of the format.
    func attempt<Value>(_ operation: () throws -> Value) throws(ExportError) -> Value {
        do { return try operation() } catch { throw exportError(error) }
    }

    private func exportError(_ error: any Error) -> ExportError {
        switch error {
        case CryptographyError.notAuthentic, DecryptionError.wrongKey: .wrongPassword(format)
        case CryptographyError.keyLength, CryptographyError.tooShort, DecryptionError.keyLength,
            DecryptionError.vectorLength, DecryptionError.ciphertextLength:
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
