internal import CGcrypt
internal import CSodium
internal import WatchwordCryptography

/// Initialises libgcrypt and libsodium, before the process gives up access to files.
///
/// Both inspect the processor and read files in `/etc` and `/proc`, once. Every other function of
/// this folder also initialises them if necessary.
///
/// - Throws: ``ContainerError/unsupported``.
public func prepareExportCryptography() throws(ContainerError) {
    try Libraries.prepare()
    // The first use of each algorithm tests it.
    let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32).span)
    let none = [UInt8](repeating: 0, count: 16)
    _ = try decryptTwofishCBC(none.span, key: key, vector: none.span)
    _ = try Salsa20Stream(key: key, nonce: none.span.extracting(..<8)).apply(to: none.span)
    _ = try Argon2(.id, kibibytes: 8, passes: 1, lanes: 1)
        .key(from: key, salt: none.span, count: 16)
}

/// The state of the two libraries.
enum Libraries {
    private static let failure = initialise()

    static func prepare() throws(ContainerError) {
        if let failure { throw failure }
    }

    private static func initialise() -> ContainerError? {
        guard unsafe gcry_check_version(GCRYPT_VERSION) != nil else { return .unsupported }
        // libgcrypt's locked memory cannot be created in a confined process, and the keys that it
        // would hold are copies of `SecretBytes`.
        for command in [GCRYCTL_DISABLE_SECMEM, GCRYCTL_INITIALIZATION_FINISHED] {
            guard gcrypt_control(command) == 0 else { return .unsupported }
        }
        return sodium_init() >= 0 ? nil : .unsupported
    }

    /// The error for libgcrypt's code; `nil` for success.
    static func error(_ code: gcry_error_t) -> ContainerError? {
        switch gcry_err_code(code) {
        case GPG_ERR_NO_ERROR: nil
        case GPG_ERR_ENOMEM: .outOfMemory
        default: .unsupported
        }
    }
}
