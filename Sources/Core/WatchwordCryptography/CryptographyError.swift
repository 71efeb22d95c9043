internal import COpenSSL

/// Why a key, a ciphertext, an encoded text or a certificate was refused.
///
/// It states what is wrong and where, never the content.
public enum CryptographyError: Error, Hashable, Sendable {
    // Ciphertexts.
    /// The key does not have the cipher's length.
    case keyLength
    /// The initialisation vector or nonce does not have the cipher's length.
    case vectorLength
    /// The ciphertext is shorter than the ciphertext of an empty text, or does not consist of whole
    /// blocks.
    case ciphertextLength
    /// A different key, different associated data, or a changed box: these are indistinguishable.
    case notAuthentic
    /// The padding is invalid, or a different key wrapped the key.
    case wrongKey

    // Private and public keys.
    /// The scalar does not have 32 bytes, is zero or is not below the order of the curve.
    case scalar
    /// The key is not of the algorithm's type, or not on its curve.
    case otherAlgorithm
    /// The point is not in its uncompressed form, or, on edwards25519, not in its canonical
    /// encoding.
    case pointForm
    /// The point is of small order: no secret can be agreed on, or one signature would be valid for
    /// every message.
    case smallOrder
    /// The RSA modulus does not have 2,048 to 4,096 bits.
    case modulus
    /// The RSA modulus is a prime number.
    case primeModulus
    /// The RSA exponent is even, or not between 2^16 and 2^64.
    case exponent
    /// The point is not on the curve, or OpenSSL's check of the key failed.
    case invalidKey

    // Encodings.
    /// The length of a text in Base64 is not a multiple of four.
    case base64Length
    /// A character outside Base64's alphabet, or padding before the end.
    case notBase64(at: Int)
    /// The unused bits of the last character in Base64 are not zero.
    case nonzeroTrailingBits
    /// The bytes are not DER.
    case notDER
    /// The certificate is longer than 4 KiB.
    case certificateTooLong
    /// It is not a certificate in DER, or bytes follow it.
    case notACertificate
    /// An extension of the certificate cannot be read, or occurs twice.
    case certificateExtensions

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
        case random, digest, hmac, scrypt, pbkdf2, hkdf, agreement, seal, cipher
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

    /// Repeats the failure that another process reported.
    package init(call: Call, code: UInt) {
        self.call = call
        self.code = code
    }
}
