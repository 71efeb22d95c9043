/// Why an OpenPGP message could not be decrypted.
///
/// It never contains content.
public enum OpenPGPReadingError: Error, Hashable, Sendable {
    /// The bytes are not an encrypted OpenPGP message.
    case notAMessage
    /// The message is encrypted with public keys only.
    case publicKeyEncryption
    /// The password is wrong, or the message is damaged; these are often indistinguishable.
    case wrongPassword
    /// The message is damaged or truncated before its encrypted part.
    case damaged
    /// The content is longer than allowed.
    case tooLong(allowed: Int)
    /// There is not enough memory.
    case outOfMemory
}
