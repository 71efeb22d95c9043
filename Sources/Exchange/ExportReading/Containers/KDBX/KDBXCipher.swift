internal import Exports
internal import WatchwordCryptography

/// The cipher of a KDBX file's content.
struct KDBXCipher {
    private enum Algorithm {
        case aes, twofish, chaCha20
    }

    private let algorithm: Algorithm
    private let vector: SecretBytes

    /// Recognises a cipher by its identifier.
    init(_ identifier: SecretBytes, vector: SecretBytes?) throws(ExportError) {
        switch identifier.encodedHex().decodedText() {
        case "31c1f2e6bf714350be5805216afc5aff": algorithm = .aes
        case "ad68f29f576f4bb9a36ad47af965346c": algorithm = .twofish
        case "d6038a2b8b6f4cb5a524339a31dbb59a": algorithm = .chaCha20
        default: throw .unreadable(.keePass, .unsupportedAlgorithm)
        }
        guard let vector, vector.count == (algorithm == .chaCha20 ? 12 : 16) else {
            throw .damaged(.keePass)
        }
        self.vector = vector
    }

    func decrypt(
        _ ciphertext: SecretBytes, _ key: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let decryption = Decryption(.keePass)
        switch algorithm {
        case .aes: return try decryption.openCBC(ciphertext, key: key, vector: vector)
        case .twofish: return try decryptTwofish(ciphertext, key)
        case .chaCha20:
            return try decryption.attempt {
                let stream = try vector.withBytes { try ChaCha20Stream(key: key, nonce: $0) }
                return try ciphertext.withBytes { try stream.apply(to: $0) }
            }
        }
    }

    private func decryptTwofish(
        _ ciphertext: SecretBytes, _ key: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let padded = try Decryption(.keePass).open(
            ciphertext, key: key, nonce: vector, with: decryptTwofishCBC)
        // PKCS #7 (RFC 5652, section 6.3).
        let paddingCount = padded.withBytes { padded in
            guard let last = padded.indices.last.map({ padded[$0] }), (1...16).contains(last),
                padded.indices.suffix(Int(last)).allSatisfy({ padded[$0] == last })
            else { return 0 }
            return Int(last)
        }
        guard paddingCount > 0 else { throw .wrongPassword(.keePass) }
        return padded.part(0..<(padded.count - paddingCount))
    }
}

/// The keystream that the protected values of a KDBX document share, in document order.
final class KDBXProtection {
    private enum Stream {
        case none
        case salsa20(Salsa20Stream)
        case chaCha20(ChaCha20Stream)
    }

    private static let salsa20Nonce: [UInt8] = [0xE8, 0x30, 0x09, 0x4B, 0x97, 0x20, 0x5D, 0x2A]
    private let stream: Stream

    /// Starts the keystream with the number that the file gives it.
    init(_ number: UInt64, key: SecretBytes) throws(ExportError) {
        let decryption = Decryption(.keePass)
        switch number {
        case 0: stream = .none
        case 2:
            let key = decryption.digest(.sha256, of: key)
            stream = try decryption.attempt {
                .salsa20(try Salsa20Stream(key: key, nonce: Self.salsa20Nonce.span))
            }
        case 3:
            let derived = decryption.digest(.sha512, of: key)
            stream = try decryption.attempt {
                .chaCha20(
                    try derived.part(32..<44).withBytes { nonce in
                        try ChaCha20Stream(key: derived.part(0..<32), nonce: nonce)
                    })
            }
        default: throw decryption.unsupported
        }
    }

    /// Decrypts the next protected value, which is Base64.
    ///
    /// A value that is not used must be decrypted as well, because the next one follows it in the
    /// keystream.
    func next(_ value: SecretBytes) throws(ExportError) -> SecretBytes {
        guard let bytes = value.decodedBase64Lines() else { throw .damaged(.keePass) }
        return try Decryption(.keePass).attempt {
            switch stream {
            case .none: bytes
            case .salsa20(let stream): try bytes.withBytes { try stream.apply(to: $0) }
            case .chaCha20(let stream): try bytes.withBytes { try stream.apply(to: $0) }
            }
        }
    }
}
