internal import Exports
internal import WatchwordCryptography

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
            do {
                stream = .salsa20(try Salsa20Stream(key: key, nonce: Self.salsa20Nonce.span))
            } catch {
                throw decryption.exportError(error)
            }
        case 3:
            let derived = decryption.digest(.sha512, of: key)
            do {
                stream = .chaCha20(
                    try derived.part(32..<44).withBytes { nonce throws(DecryptionError) in
                        try ChaCha20Stream(key: derived.part(0..<32), nonce: nonce)
                    })
            } catch {
                throw decryption.exportError(error)
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
        switch stream {
        case .none: return bytes
        case .salsa20(let stream):
            do {
                return try bytes.withBytes { bytes throws(ExportCryptographyError) in
                    try stream.apply(to: bytes)
                }
            } catch {
                throw Decryption(.keePass).exportError(error)
            }
        case .chaCha20(let stream):
            do {
                return try bytes.withBytes { bytes throws(CryptographyFailure) in
                    try stream.apply(to: bytes)
                }
            } catch {
                throw Decryption(.keePass).unsupported
            }
        }
    }
}
