internal import WatchwordCryptography

extension KeyURIParser {
    /// A name or a value that is not secret, as text.
    mutating func text(
        _ encoded: Span<UInt8>, _ part: KeyURIPart, plus: PercentDecoder.Plus
    ) -> String {
        var decoder = PercentDecoder(plus: plus)
        let bytes = [UInt8](capacity: encoded.count) { decoder.decode(encoded, into: &$0) }
        warnings += decoder.warnings(for: part)
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        warnings.append(.readAsLatin1(part))
        var text = ""
        for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        return text
    }

    /// An issuer or an account, without surrounding spaces.
    mutating func name(
        _ encoded: Span<UInt8>, _ part: KeyURIPart, plus: PercentDecoder.Plus = .itself
    ) -> String {
        let whole = text(encoded, part, plus: plus)
        guard whole.hasSpaceAround else { return whole }
        warnings.append(.spacesAround(part))
        return whole.trimmed
    }

    /// The key, which is decoded entirely in locked memory.
    mutating func key(_ encoded: Span<UInt8>) throws(KeyURIError) -> SecretBytes {
        var decoder = PercentDecoder(plus: .space)
        let text = SecretBytes(capacity: encoded.count) { decoder.decode(encoded, into: &$0) }
        warnings += decoder.warnings(for: .secret)
        let (key, tolerances) = try decode(text)
        warnings += tolerances.map(KeyURIWarning.key)
        guard key.count > 0 else { throw .missingKey }
        return key
    }

    private func decode(
        _ text: SecretBytes
    ) throws(KeyURIError) -> (SecretBytes, [Base32Deviation]) {
        do {
            return try text.withBytes { text throws(Base32Error) in
                try Base32.decodeTolerantly(text)
            }
        } catch {
            throw .key(error)
        }
    }
}
