internal import Cryptography

/// The vault key, and the keys that are derived from it.
struct VaultKey {
    let secret: SecretBytes
    let vaultID: [UInt8]

    static let count = 32

    /// The purpose of a derived key; no two purposes share a key.
    enum Purpose: String {
        case header, manifest, record, fingerprint, uses
        case slot
        case recoverySlot = "recovery-slot"
        case tpm2Slot = "tpm2-slot"
        case fido2Slot = "fido2-slot"
    }

    /// Generates the key of a new vault.
    static func make() throws(VaultError) -> VaultKey {
        try make(of: try VaultRandomness.bytes(count: VaultDocument.vaultIDCount))
    }

    /// Generates a new key for an existing vault.
    static func make(of vaultID: [UInt8]) throws(VaultError) -> VaultKey {
        VaultKey(secret: try VaultRandomness.secret(count: count), vaultID: vaultID)
    }

    /// Derives the key for `purpose`, for one record if `id` is given.
    func derived(for purpose: Purpose, of id: RecordID? = nil) throws(VaultError) -> SecretBytes {
        try VaultKey.derive(purpose, from: secret, salt: vaultID, suffix: id?.bytes ?? [])
    }

    /// Derives a key for `purpose` from any secret.
    static func derive(
        _ purpose: Purpose, from secret: SecretBytes, salt: [UInt8], suffix: [UInt8] = []
    ) throws(VaultError) -> SecretBytes {
        let info = Array("watchword-vault 1 \(purpose.rawValue)".utf8) + suffix
        do {
            return try hkdfSHA256(secret: secret, salt: salt.span, info: info.span, count: count)
        } catch {
            throw .cryptography(error)
        }
    }

    /// The MAC of the header.
    func mac(of header: Span<UInt8>) throws(VaultError) -> [UInt8] {
        let key = try derived(for: .header)
        do {
            return try hmac(.sha256, key: key, message: header)
        } catch {
            throw .cryptography(error)
        }
    }

    /// 16 bytes that are equal for equal secrets, and reveal nothing without the vault key.
    func fingerprint(of payload: RecordPayload) throws(VaultError) -> [UInt8] {
        let key = try derived(for: .fingerprint)
        let secret = payload.identity
        do {
            let print = try secret.withBytes { secret throws(CryptographyFailure) in
                try hmac(.sha256, key: key, message: secret)
            }
            return Array(print.prefix(ListedSecret.fingerprintCount))
        } catch {
            throw .cryptography(error)
        }
    }
}
