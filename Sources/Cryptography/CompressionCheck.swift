/// Whether OpenSSL's compression functions do here what they are taken for.
///
/// They are deprecated: a later OpenSSL may keep their names and lay their contexts out in another
/// way. So each is asked once in a process for an HMAC that is known (RFC 4226, appendix D, count
/// 0, and the same with the longer hashes); a wrong answer means that ``EnvelopeKey`` makes the
/// codes.
enum CompressionCheck {
    static func isPassed(by algorithm: HashAlgorithm) -> Bool {
        switch algorithm {
        case .sha1: sha1
        case .sha256: sha256
        case .sha512: sha512
        }
    }

    // A `static let` runs once, whoever comes first.
    private static let sha1 =
        HMACStates<SHA1Compression>.truncate(0, key: knownKey.span) == 1_284_755_224
    private static let sha256 =
        HMACStates<SHA256Compression>.truncate(0, key: knownKey.span) == 2_074_875_740
    private static let sha512 =
        HMACStates<SHA512Compression>.truncate(0, key: knownKey.span) == 604_125_165

    /// “12345678901234567890”, the key of the RFC's appendix and no secret.
    private static var knownKey: [UInt8] { (0..<20).map { 0x30 + UInt8(($0 + 1) % 10) } }
}
