/// A TPM's statement that it holds a key (`TPMS_ATTEST` of `TPM2_Certify`; TPM 2.0 Library, Part 2,
/// section 10.12.8).
public struct TPMCertification: Sendable {
    /// The data that the caller gave to the TPM (`extraData`).
    public let qualifyingData: [UInt8]
    /// The Name of the certified key.
    public let name: [UInt8]

    /// Made by a TPM: `TPM_GENERATED_VALUE`.
    private static let magic: UInt64 = 0xff54_4347
    /// `TPM_ST_ATTEST_CERTIFY`.
    private static let certify: UInt64 = 0x8017

    /// Reads a structure that ends where `encoded` ends.
    public init(_ encoded: [UInt8]) throws(TPMStructureError) {
        var fields = BinaryFields(encoded)
        do {
            guard try fields.number(4) == Self.magic, try fields.number(2) == Self.certify else {
                throw TPMStructureError()
            }
            // The signer's qualified Name.
            _ = try fields.sized()
            qualifyingData = try fields.sized()
            // Clock, resets, restarts, whether the clock is safe, and the firmware's version.
            _ = try fields.take(8 + 4 + 4 + 1 + 8)
            name = try fields.sized()
            // The certified key's qualified Name.
            _ = try fields.sized()
            try fields.finish()
        } catch {
            throw TPMStructureError()
        }
    }
}
