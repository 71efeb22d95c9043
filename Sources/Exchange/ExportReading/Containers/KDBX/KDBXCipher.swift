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
