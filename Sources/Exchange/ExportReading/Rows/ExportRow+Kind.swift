internal import WatchwordCryptography
internal import Exports
internal import OneTimePassword

extension ExportRow.Kind {
    /// Recognises the word that apps use for a type, in any case.
    init(word: String) {
        self =
            switch word.asciiLowercased {
            case "totp": .totp
            case "hotp": .hotp
            case "steam": .steam
            case "motp": .motp
            case "yandex": .yandex
            default: .unknown
            }
    }
}

extension ExportRow {
    /// Replaces a Base32 secret by its bytes as lower-case hexadecimal text: Mobile-OTP in Aegis.
    mutating func useHexOfBase32() throws(ExportRowRefusal) {
        secret = .text(try decodedBase32().encodedHex())
    }

    /// Replaces a Base32 secret by its bytes as text: Mobile-OTP in andOTP.
    mutating func useTextOfBase32() throws(ExportRowRefusal) {
        secret = .text(try decodedBase32())
    }

    private func decodedBase32() throws(ExportRowRefusal) -> SecretBytes {
        guard case .base32(let text) = secret else { throw .noSecret }
        guard let decoded = text.decodedBase32() else { throw .badSecret }
        return decoded.secret
    }
}
