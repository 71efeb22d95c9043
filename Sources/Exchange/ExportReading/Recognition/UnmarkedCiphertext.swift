internal import Exports
internal import WatchwordCryptography

/// Encrypted exports without fixed bytes, which only the password tells apart: andOTP,
/// Authenticator Plus' database, OTPClient 1.
enum UnmarkedCiphertext {
    /// The shortest file: andOTP's nonce and tag.
    private static let minimumCount = 28

    static func read(_ file: SecretBytes, password: SecretBytes?) throws(ExportError) -> ExportRows
    {
        guard file.count >= minimumCount else { throw .unknownFormat }
        guard let password else { throw .passwordNeeded(nil) }
        if let json = try plaintext(try AndOTPContainer.open(file, password: password)) {
            return try JSONFormat.andOTP.read(try readExportJSON(json, .andOTP), nil)
        }
        if let database = try plaintext(
            try AuthenticatorPlusContainer.open(file, password: password))
        {
            return try DatabaseFormat.read(database)
        }
        if let json = try plaintext(try OTPClientContainer.open(file, password: password)) {
            return try JSONFormat.otpClient.read(try readExportJSON(json, .otpClient), nil)
        }
        throw .wrongPassword(nil)
    }

    /// The result of an attempt, or `nil` if the file is not of that format.
    private static func plaintext(
        _ attempt: @autoclosure () throws(ExportError) -> SecretBytes
    ) throws(ExportError) -> SecretBytes? {
        do { return try attempt() } catch {
            switch error {
            case .wrongPassword, .damaged: return nil
            default: throw error
            }
        }
    }
}
