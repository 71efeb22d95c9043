package import WatchwordSystem

/// A key pair on P-256 that a TPM has made, as the vault keeps it: only that TPM can load it, and it
/// signs only for somebody who knows its authorization value and, if it has one, the PIN.
public struct TPMKey: Hashable, Sendable {
    /// The TPM's structure `TPM2B_PUBLIC`.
    public let publicArea: [UInt8]
    /// The TPM's structure `TPM2B_PRIVATE`, which the TPM has encrypted.
    public let privateArea: [UInt8]
    /// The persistent handle of the parent; 0 if the parent is derived anew each time.
    public let parent: UInt32
    /// The parent's Name, by which another TPM or another parent is recognised.
    public let parentName: [UInt8]
    /// Whether signing also requires a PIN, whose failures the TPM counts.
    public let requiresPIN: Bool

    /// The key's `TPMT_PUBLIC`, which follows its length.
    package var structure: [UInt8] { Array(publicArea.dropFirst(2)) }

    /// The number of bytes of an authorization value.
    public static let authorizationCount = 32
    /// The number of bytes of a public key.
    public static let pointCount = 65
    /// The maximum size of a signature in bytes.
    public static let longestSignature = 72
    /// The maximum size of a message in bytes.
    package static let longestMessage = 1400
    /// The maximum size of a structure in bytes.
    package static let largestArea = 512
    /// The maximum size of a Name in bytes.
    package static let longestName = 66

    /// Combines the parts; `nil` if one is empty or too large.
    public init?(
        publicArea: [UInt8], privateArea: [UInt8], parent: UInt32, parentName: [UInt8],
        requiresPIN: Bool
    ) {
        guard (1...TPMKey.largestArea).contains(publicArea.count),
            (1...TPMKey.largestArea).contains(privateArea.count),
            (1...TPMKey.longestName).contains(parentName.count)
        else { return nil }
        self.publicArea = publicArea
        self.privateArea = privateArea
        self.parent = parent
        self.parentName = parentName
        self.requiresPIN = requiresPIN
    }
}

extension TPMKey: Transferable {
    package func write(to output: FrameWriter) {
        output.append(publicArea, privateArea, parent, parentName, requiresPIN)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let key = TPMKey(
            publicArea: try fields.data(bytes, limit: TPMKey.largestArea),
            privateArea: try fields.data(bytes, limit: TPMKey.largestArea),
            parent: try fields.value(bytes),
            parentName: try fields.data(bytes, limit: TPMKey.longestName),
            requiresPIN: try fields.flag(bytes))
        guard let key else { throw Unreadable() }
        self = key
    }
}
