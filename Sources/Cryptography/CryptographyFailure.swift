internal import COpenSSL

/// A call into OpenSSL that failed: which one, never what it worked on.
///
/// None of these calls fails by its input's content, only by missing memory, a missing source of
/// randomness, or an OpenSSL whose set-up withholds the algorithm.
public struct CryptographyFailure: Error, Hashable, Sendable {
    /// What was being asked of OpenSSL.
    public enum Call: String, Hashable, Sendable {
        case random, digest, hmac, scrypt, hkdf, agreement, seal, open
    }

    /// The call that failed.
    public let call: Call
    /// OpenSSL's packed error code; 0 when it gave none.
    public let code: UInt

    /// Takes the oldest code from OpenSSL's queue and empties the queue for the next caller.
    init(_ call: Call) {
        self.call = call
        code = UInt(ERR_get_error())
        ERR_clear_error()
    }
}
