extension OutputSpan<UInt8> {
    /// Appends ASCII text.
    package mutating func append(ascii text: String) {
        for byte in text.utf8 { append(byte) }
    }

    /// Appends the scalar as UTF-8.
    package mutating func append(_ scalar: Unicode.Scalar) {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { append(byte) }
    }
}
