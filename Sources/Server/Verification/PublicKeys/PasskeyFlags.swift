/// What an authenticator said about one ceremony.
package struct PasskeyFlags: Hashable, Sendable {
    /// The user was verified (UV).
    package let isUserVerified: Bool
    /// The passkey may be backed up (BE).
    package let isBackupEligible: Bool
    /// The passkey is backed up (BS).
    package let isBackedUp: Bool

    package init(isUserVerified: Bool, isBackupEligible: Bool, isBackedUp: Bool) {
        self.isUserVerified = isUserVerified
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
    }

    func write(into writer: inout ByteWriter) {
        writer.write(isUserVerified)
        writer.write(isBackupEligible)
        writer.write(isBackedUp)
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        isUserVerified = try reader.readFlag()
        isBackupEligible = try reader.readFlag()
        isBackedUp = try reader.readFlag()
        guard isBackupEligible || !isBackedUp else { throw .malformed }
    }
}
