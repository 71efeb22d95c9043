internal import WatchwordCryptography

/// The parts of a secret that was sealed with AES-256-GCM, as other programs store them.
struct GCMBox {
    let nonce: ArraySlice<UInt8>
    let ciphertext: [UInt8]
    let tag: ArraySlice<UInt8>

    private static let nonceCount = 12
    private static let tagCount = 16

    /// Seals `plaintext` under a key of 32 bytes, with a random nonce.
    init(sealing plaintext: SecretBytes, under key: SecretBytes) {
        let sealing: SealingKey
        do { sealing = try SealingKey(key) } catch {
            preconditionFailure("every key here has 32 bytes")
        }
        let none: [UInt8] = []
        let box = sealing.seal(plaintext, associatedData: none.span)
        nonce = box.prefix(Self.nonceCount)
        ciphertext = Array(box.dropFirst(Self.nonceCount).dropLast(Self.tagCount))
        tag = box.suffix(Self.tagCount)
    }
}
