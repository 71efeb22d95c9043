internal import Exports
internal import WatchwordCryptography

/// Formats that begin with fixed bytes.
enum FileSignature: CaseIterable {
    case sqlite, zip, kdbx, keePass1, javaObject, stratum, stratumLegacy, otpClient, salted
    case pgpMessage, pgpArmour, pgpPublicKey, age, utf16

    init?(_ file: Span<UInt8>) {
        for signature in Self.allCases
        where signature.prefixes.contains(where: { file.hasPrefix($0) }) {
            self = signature
            return
        }
        return nil
    }

    private var prefixes: [[UInt8]] {
        switch self {
        case .sqlite: [Array("SQLite format 3\0".utf8)]
        // The second is an archive without members.
        case .zip: [Array("PK".utf8) + [3, 4], Array("PK".utf8) + [5, 6]]
        case .kdbx: [[0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5]]
        case .keePass1: [[0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5]]
        case .javaObject: [[0xAC, 0xED, 0x00, 0x05]]
        case .stratum: [Array("AUTHENTICATORPRO".utf8)]
        case .stratumLegacy: [Array("AuthenticatorPro".utf8)]
        case .otpClient: [Array("OTPClient".utf8)]
        case .salted: [Array("Salted__".utf8)]
        case .pgpMessage: [[0xC3], [0x8C]]
        case .pgpArmour: [Array("-----BEGIN PGP MESSAGE-----".utf8)]
        case .pgpPublicKey: [[0xC1], [0x84], [0x85]]
        case .age:
            [
                Array("age-encryption.org/v1".utf8),
                Array("-----BEGIN AGE ENCRYPTED FILE-----".utf8),
            ]
        case .utf16: [[0xFF, 0xFE], [0xFE, 0xFF]]
        }
    }

    func read(
        _ source: ExportSource, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        let file = source.file
        switch self {
        case .sqlite: return try DatabaseFormat.read(file)
        case .zip: return try ArchiveReading.read(source, password: password)
        case .pgpMessage, .pgpArmour:
            return try ProtonPassFormat.read(encrypted: file, password: password)
        case .stratum, .stratumLegacy:
            guard let password else { throw .passwordNeeded(.stratum) }
            let plain = try StratumContainer.open(file, password: password)
            return try StratumFormat.read(try readExportJSON(plain, .stratum))
        case .otpClient:
            guard let password else { throw .passwordNeeded(.otpClient) }
            let plain = try OTPClientContainer.open(file, password: password)
            return try JSONFormat.otpClient.read(try readExportJSON(plain, .otpClient), nil)
        case .salted:
            guard let password else { throw .passwordNeeded(.gauth) }
            return try GauthFormat.read(try GauthContainer.open(file, password: password))
        case .kdbx: return try KeePassFormat.read(source, password: password)
        case .javaObject: return try FreeOTP2Format.read(file, password: password)
        case .keePass1: throw .unreadable(.keePass, .keePass1)
        case .pgpPublicKey, .age: throw .unreadable(nil, .publicKeyEncryption)
        case .utf16: throw .unreadable(nil, .utf16)
        }
    }
}

extension Span<UInt8> {
    /// Whether it begins with exactly these bytes.
    func hasPrefix(_ prefix: [UInt8]) -> Bool {
        count >= prefix.count && prefix.indices.allSatisfy { self[$0] == prefix[$0] }
    }
}
