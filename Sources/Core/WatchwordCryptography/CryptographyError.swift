internal import COpenSSL

/// Why a key, a cost or a sealed box was refused.
public enum CryptographyError: Error, Hashable, Sendable {
    /// The key does not have 32 bytes.
    case keyLength
    /// The box is shorter than an empty box.
    case tooShort
    /// A different key, different associated data, or a changed box: these are indistinguishable.
    case notAuthentic
    /// The public key is a point of small order, so no secret can be agreed on.
    case weakPublicKey
    /// scrypt's N would be below 2^10 or above 2^24.
    case costOutOfRange(logN: Int)
    /// A call into OpenSSL failed.
    case failed(CryptographyFailure)
}

/// A call into OpenSSL that failed.
///
/// It names the call, never its input.
///
/// The content of the input never makes these calls fail. They fail only if memory or the source of
/// randomness is unavailable, or if the OpenSSL configuration lacks the algorithm.
public struct CryptographyFailure: Error, Hashable, Sendable {
    /// The operation that OpenSSL was asked to perform.
    public enum Call: String, CaseIterable, Hashable, Sendable {
        case random, digest, hmac, scrypt, pbkdf2, hkdf, agreement, seal, open, cipher
        case sign, verify, certificate, encrypt, kbkdf, sskdf
    }

    /// The call that failed.
    public let call: Call
    /// OpenSSL's packed error code; 0 if there was none.
    public let code: UInt

    /// Takes the oldest code from OpenSSL's error queue and clears the queue for the next caller.
    init(_ call: Call) {
        self.call = call
        code = UInt(ERR_get_error())
        ERR_clear_error()
    }

    /// Creates the failure that another process reported.
    package init(call: Call, code: UInt) {
        self.call = call
        self.code = code
    }
}
