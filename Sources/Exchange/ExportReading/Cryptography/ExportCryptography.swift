internal import CGcrypt
internal import CSodium
internal import WatchwordCryptography

/// Initialises libgcrypt and libsodium, before the process gives up access to files.
///
/// Both inspect the processor and read files in `/etc` and `/proc`, once. Every other function of
/// this folder also initialises them if necessary.
///
/// - Throws: ``ExportCryptographyError/failed(call:code:)``.
public func prepareExportCryptography() throws(ExportCryptographyError) {
    try Libraries.prepare()
    // The first use of each algorithm tests it.
    let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32).span)
    let none = [UInt8](repeating: 0, count: 16)
    _ = try decryptTwofishCBC(none.span, key: key, vector: none.span)
    _ = try Salsa20Stream(key: key, nonce: none.span.extracting(..<8)).apply(to: none.span)
    _ = try argon2(
        .id, password: key, salt: none.span, cost: Argon2Cost(kibibytes: 8, passes: 1, lanes: 1),
        count: 16)
}

/// The state of the two libraries.
enum Libraries {
    private static let failure = initialise()

    static func prepare() throws(ExportCryptographyError) {
        if let failure { throw failure }
    }

    private static func initialise() -> ExportCryptographyError? {
        guard unsafe gcry_check_version(GCRYPT_VERSION) != nil else {
            return .failed(call: "gcry_check_version", code: 0)
        }
        // Its locked memory cannot be created in a confined process, and the keys that it would
        // hold are copies of `SecretBytes`.
        for command in [GCRYCTL_DISABLE_SECMEM, GCRYCTL_INITIALIZATION_FINISHED] {
            let code = gcrypt_control(command)
            if code != 0 { return .failed(call: "gcry_control", code: code) }
        }
        guard sodium_init() >= 0 else { return .failed(call: "sodium_init", code: 0) }
        return nil
    }

    /// The error for libgcrypt's code; `nil` for success.
    static func error(_ call: String, _ code: gcry_error_t) -> ExportCryptographyError? {
        switch gcry_err_code(code) {
        case GPG_ERR_NO_ERROR: nil
        case GPG_ERR_ENOMEM: .outOfMemory
        default: .failed(call: call, code: code)
        }
    }
}
