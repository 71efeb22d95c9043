extension OutputSpan<UInt8> {
    /// Appends the text's bytes.
    package mutating func append(ascii text: String) {
        for byte in text.utf8 { append(byte) }
    }

    /// Appends the scalar's UTF-8.
    package mutating func append(_ scalar: Unicode.Scalar) {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { append(byte) }
    }
}
