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
        do throws(CryptographyError) {
            let key = try SealingKey(key)
            return try sealed.withBytes { sealed throws(CryptographyError) in
                try nonce.withBytes { nonce throws(CryptographyError) in
                    try key.open(sealed, nonce: nonce, associatedData: associatedData.span)
                }
            }
        } catch {
            switch error {
            case .notAuthentic: throw .wrongPassword(format)
            case .keyLength, .tooShort: throw .damaged(format)
            case .weakPublicKey, .costOutOfRange, .failed: throw unsupported
            }
        }
    }

    /// Decrypts AES-CBC and removes the PKCS #7 padding.
    ///
    /// One wrong password in about 256 is not noticed.
    func openCBC(
        _ ciphertext: SecretBytes, key: SecretBytes, vector: SecretBytes, hasPadding: Bool = true
    ) throws(ExportError) -> SecretBytes {
        do throws(DecryptionError) {
            return try ciphertext.withBytes { ciphertext throws(DecryptionError) in
                try vector.withBytes { vector throws(DecryptionError) in
                    try decryptAES(
                        ciphertext, mode: .cbc, key: key, vector: vector, hasPadding: hasPadding)
                }
            }
        } catch {
            throw exportError(error)
        }
    }

    /// Decrypts with a cipher of libgcrypt or libsodium.
    func open(
        _ ciphertext: SecretBytes, key: SecretBytes, nonce: SecretBytes,
        with cipher: (Span<UInt8>, SecretBytes, Span<UInt8>) throws(ExportCryptographyError) ->
            SecretBytes
    ) throws(ExportError) -> SecretBytes {
        do {
            return try ciphertext.withBytes { ciphertext throws(ExportCryptographyError) in
                try nonce.withBytes { nonce throws(ExportCryptographyError) in
                    try cipher(ciphertext, key, nonce)
                }
            }
        } catch {
            throw exportError(error)
        }
    }

    /// The digest of a secret.
    func digest(_ algorithm: HashAlgorithm, of secret: SecretBytes) -> SecretBytes {
        algorithm.digest(of: secret)
    }

    /// The HMAC of `message`.
    func authenticationCode(
        _ algorithm: HashAlgorithm, key: SecretBytes, of message: SecretBytes
    ) -> [UInt8] {
        message.withBytes { message in
            hmac(algorithm, key: key, message: message)
        }
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

    /// The format's error for an error of OpenSSL's wrapper.
    func exportError(_ error: DecryptionError) -> ExportError {
        switch error {
        case .wrongKey: .wrongPassword(format)
        case .keyLength, .vectorLength, .ciphertextLength: .damaged(format)
        case .failed: unsupported
        }
    }

    /// A library lacks an algorithm.
    var unsupported: ExportError { .unreadable(format, .unsupportedAlgorithm) }
}
