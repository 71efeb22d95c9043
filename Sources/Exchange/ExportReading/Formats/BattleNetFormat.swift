internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// Battle.net's preferences.
enum BattleNetFormat {
    static func read(_ preferences: AndroidPreferences) throws(ExportError) -> ExportRows {
        guard let serial = preferences[ending: "AUTHENTICATOR_SERIAL"],
            let secret = preferences[ending: "AUTHENTICATOR_DEVICE_SECRET"]
        else { throw .damaged(.battleNet) }
        var rows = ExportRows(.battleNet)
        try rows.append { row throws(ExportRowRefusal) in
            row.issuer = "Battle.net"
            guard let account = try unmasked(serial).decodedText() else { throw .malformed }
            row.account = account
            row.digits = .value(8)
            row.secret = .hex(try unmasked(secret))
        }
        return rows
    }

    /// The app combines each value with this mask.
    private static let mask: [UInt8] = [
        0x39, 0x8e, 0x27, 0xfc, 0x50, 0x27, 0x6a, 0x65, 0x60, 0x65, 0xb0, 0xe5, 0x25, 0xf4, 0xc0,
        0x6c, 0x04, 0xc6, 0x10, 0x75, 0x28, 0x6b, 0x8e, 0x7a, 0xed, 0xa5, 0x9d, 0xa9, 0x81, 0x3b,
        0x5d, 0xd6, 0xc8, 0x0d, 0x2f, 0xb3, 0x80, 0x68, 0x77, 0x3f, 0xa5, 0x9b, 0xa4, 0x7c, 0x17,
        0xca, 0x6c, 0x64, 0x79, 0x01, 0x5c, 0x1d, 0x5b, 0x8b, 0x8f, 0x6b, 0x9a,
    ]

    /// The ASCII text that hexadecimal digits mask.
    private static func unmasked(_ digits: SecretBytes) throws(ExportRowRefusal) -> SecretBytes {
        guard let masked = digits.decodedHex() else { throw .badSecret }
        guard masked.count <= mask.count else { throw .secretTooLong }
        return masked.withBytes { masked in
            SecretBytes(capacity: masked.count) { output in
                for index in masked.indices { output.append(masked[index] ^ mask[index]) }
            }
        }
    }
}
