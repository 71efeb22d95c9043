/// Checks that OpenSSL's compression functions work as expected.
///
/// They are deprecated: a later OpenSSL could keep their names and change the layout of their
/// contexts. So each function computes a known HMAC once per process (RFC 4226, appendix D, count
/// 0, and the same input with the longer hashes). If the result is wrong, ``EVPKey`` computes
/// the codes.
enum CompressionCheck {
    static func isPassed(by algorithm: HashAlgorithm) -> Bool {
        switch algorithm {
        case .sha1: sha1
        case .sha256: sha256
        case .sha512: sha512
        }
    }

    // A `static let` is initialised once, even if several threads use it first.
    private static let sha1 =
        HMACStates<SHA1Compression>.truncate(0, key: knownKey.span) == 1_284_755_224
    private static let sha256 =
        HMACStates<SHA256Compression>.truncate(0, key: knownKey.span) == 2_074_875_740
    private static let sha512 =
        HMACStates<SHA512Compression>.truncate(0, key: knownKey.span) == 604_125_165

    /// “12345678901234567890”, the key in the RFC's appendix.
    ///
    /// It is not secret.
    private static var knownKey: [UInt8] { (0..<20).map { 0x30 + UInt8(($0 + 1) % 10) } }
}
