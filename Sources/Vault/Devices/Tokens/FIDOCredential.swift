package import WatchwordSystem

/// A credential of a FIDO2 authenticator, with everything that is needed to get its secret
/// (`hmac-secret`); the authenticator stores nothing.
public struct FIDOCredential: Hashable, Sendable {
    /// The credential's ID, which only its authenticator accepts.
    public let id: [UInt8]
    /// The salt of the secret.
    public let salt: [UInt8]
    /// The ID of the relying party.
    public let relyingParty: String
    /// Whether the authenticator must verify its user by the PIN.
    ///
    /// Without verification, the authenticator derives a different secret.
    public let requiresPIN: Bool

    /// The number of bytes of the salt.
    package static let saltCount = 32
    /// The maximum size of a credential's ID, in bytes (CTAP 2.1, section 6.2.2).
    package static let largestID = 1023
    /// The maximum length of the relying party's ID.
    package static let longestRelyingParty = 64
    /// The relying party of new credentials.
    package static let standardRelyingParty = "watchword.vault"

    /// Combines the parts; `nil` if a part is empty, too long or malformed.
    public init?(id: [UInt8], salt: [UInt8], relyingParty: String, requiresPIN: Bool) {
        guard (1...FIDOCredential.largestID).contains(id.count),
            salt.count == FIDOCredential.saltCount,
            (1...FIDOCredential.longestRelyingParty).contains(relyingParty.utf8.count),
            relyingParty.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        self.id = id
        self.salt = salt
        self.relyingParty = relyingParty
        self.requiresPIN = requiresPIN
    }
}

extension FIDOCredential: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id, salt, relyingParty, requiresPIN)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let credential = FIDOCredential(
            id: try fields.data(bytes, limit: FIDOCredential.largestID),
            salt: try fields.data(bytes, limit: FIDOCredential.saltCount),
            relyingParty: try fields.text(bytes, limit: FIDOCredential.longestRelyingParty),
            requiresPIN: try fields.flag(bytes))
        guard let credential else { throw Unreadable() }
        self = credential
    }
}
