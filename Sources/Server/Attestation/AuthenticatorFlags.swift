/// The flags of authenticator data (WebAuthn Level 3, section 6.1).
///
/// Reserved bits are ignored.
public struct AuthenticatorFlags: Hashable, Sendable {
    /// A user is present (UP).
    public let isUserPresent: Bool
    /// The user was verified (UV).
    public let isUserVerified: Bool
    /// The credential may be backed up (BE).
    public let isBackupEligible: Bool
    /// The credential is backed up (BS).
    public let isBackedUp: Bool
    /// The data has an attested credential (AT).
    public let hasCredential: Bool
    /// The data has extension outputs (ED).
    public let hasExtensions: Bool

    /// Creates the flags from their byte in the authenticator data.
    public init(_ byte: UInt8) {
        isUserPresent = byte & 0x01 != 0
        isUserVerified = byte & 0x04 != 0
        isBackupEligible = byte & 0x08 != 0
        isBackedUp = byte & 0x10 != 0
        hasCredential = byte & 0x40 != 0
        hasExtensions = byte & 0x80 != 0
    }
}
