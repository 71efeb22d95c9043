internal import OneTimePassword
internal import WatchwordCryptography

/// Finds the payload in a migration URI and decodes its two encodings.
enum MigrationURI {
    static let prefix = "otpauth-migration://offline"

    /// The payload's bytes, which contain keys.
    static func payload(
        of whole: Span<UInt8>, warnings: inout [MigrationWarning]
    ) throws(MigrationError) -> SecretBytes {
        guard whole.count <= MigrationBatch.maximumCount else { throw .tooLong }
        let text = whole.extracting(whole.rangeWithoutSpaces)
        guard text.hasPrefixIgnoringCase(prefix) else { throw .notAMigrationURI }
        var start = prefix.utf8.count
        if start < text.count, text[start] == UInt8(ascii: "/") { start += 1 }
        guard start < text.count else { throw .missingData }
        guard text[start] == UInt8(ascii: "?") else { throw .notAMigrationURI }
        start += 1
        var found: Range<Int>?
        while start < text.count {
            let end = text.firstIndex(of: UInt8(ascii: "&"), in: start..<text.count) ?? text.count
            let name = "data="
            if text.extracting(start..<end).hasPrefixIgnoringCase(name) {
                guard found == nil else { throw .duplicateParameter }
                found = (start + name.utf8.count)..<end
            } else if !warnings.contains(.unknownParameter) {
                warnings.append(.unknownParameter)
            }
            start = end + 1
        }
        guard let found, !found.isEmpty else { throw .missingData }
        let base64 = base64(text.extracting(found), warnings: &warnings)
        do {
            return try base64.withBytes { text throws(Base64Error) in
                try Base64.decodeSecret(text)
            }
        } catch {
            throw .base64(error)
        }
    }

    /// The parameter's value, percent-decoded, in the standard alphabet and with its padding
    /// restored.
    private static func base64(
        _ encoded: Span<UInt8>, warnings: inout [MigrationWarning]
    ) -> SecretBytes {
        var decoder = PercentDecoder(plus: .itself)
        let decoded = SecretBytes(capacity: encoded.count) { decoder.decode(encoded, into: &$0) }
        return decoded.withBytes { decoded in
            var hasSpace = false
            var isURLSafe = false
            let missing = decoded.count % 4 == 0 ? 0 : 4 - decoded.count % 4
            // A single leftover character cannot be fixed by padding.
            let padding = missing == 3 ? 0 : missing
            let text = SecretBytes(capacity: decoded.count + padding) { output in
                for index in decoded.indices {
                    switch decoded[index] {
                    case UInt8(ascii: " "):
                        hasSpace = true
                        output.append(UInt8(ascii: "+"))
                    case UInt8(ascii: "-"):
                        isURLSafe = true
                        output.append(UInt8(ascii: "+"))
                    case UInt8(ascii: "_"):
                        isURLSafe = true
                        output.append(UInt8(ascii: "/"))
                    default: output.append(decoded[index])
                    }
                }
                for _ in 0..<padding { output.append(UInt8(ascii: "=")) }
            }
            if isURLSafe { warnings.append(.urlSafeAlphabet) }
            if hasSpace { warnings.append(.spaceAsPlus) }
            if padding > 0 { warnings.append(.missingPadding) }
            return text
        }
    }
}
