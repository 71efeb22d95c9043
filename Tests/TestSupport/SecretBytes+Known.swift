public import WatchwordCryptography

extension SecretBytes {
    /// A known secret in a test.
    public convenience init(hex: String) throws {
        let bytes = try Hex.bytes(hex)
        self.init(copying: bytes.span)
    }

    /// A known secret given as text.
    public convenience init(text: String) {
        let bytes = Array(text.utf8)
        self.init(copying: bytes.span)
    }

    /// The bytes of a known secret as hexadecimal digits.
    public var hex: String { withBytes { bytes in Hex.text(bytes.indices.map { bytes[$0] }) } }

    /// The bytes of a known secret as text.
    public var text: String {
        withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }
}

extension SecretBytes {
    /// The bytes of a known secret.
    public var known: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}
