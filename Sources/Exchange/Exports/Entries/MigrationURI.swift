internal import OneTimePassword
public import WatchwordCryptography

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
            return try base64.withBytes { text throws(CryptographyError) in
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

extension MigrationBatch {
    /// Formats the part as a URI.
    ///
    /// The text is also secret.
    ///
    /// Refused entries are left out. Reading the URI returns the same credentials, size, index and
    /// identifier.
    public func format() -> SecretBytes {
        let entries = credentials.compactMap { MigrationEntryWriter($0) }
        let messages = entries.map { $0.message }
        // Each entry adds a tag and a length of at most ten bytes each, and so does each of the
        // four numbers.
        let capacity = messages.reduce(80) { $0 + $1.count + 20 }
        let payload = SecretBytes(capacity: capacity) { output in
            for message in messages {
                message.withBytes {
                    ProtobufWriter.append(
                        $0, field: MigrationPayloadField.entry.rawValue, to: &output)
                }
            }
            let numbers: KeyValuePairs<MigrationPayloadField, Int32> = [
                .version: Int32(version), .size: Int32(size), .index: Int32(index), .id: id,
            ]
            for (field, number) in numbers {
                let wide = UInt64(bitPattern: Int64(number))
                ProtobufWriter.append(wide, field: field.rawValue, to: &output)
            }
        }
        var uri = SecretText()
        uri.append("\(MigrationURI.prefix)?data=")
        // Google Authenticator encodes the characters of Base64 that are not alphanumeric.
        uri.append(Base64.encode(payload).percentEncoded)
        return uri.bytes
    }
}

/// Writes one entry of an export; there is no writer for entries that the format cannot represent.
struct MigrationEntryWriter {
    private let credential: Credential
    private let digits: UInt64
    private let type: UInt64
    private let counter: UInt64?

    init?(_ credential: Credential) {
        guard credential.otherParameters.isEmpty else { return nil }
        switch credential.style {
        case .decimal(.six): digits = 1
        case .decimal(.eight): digits = 2
        case .decimal, .steam: return nil
        }
        switch credential.movingFactor {
        case .time(.standard): (type, counter) = (2, nil)
        case .time: return nil
        case .counter(let counter):
            guard counter <= UInt64(Int64.max) else { return nil }
            (type, self.counter) = (1, counter)
        }
        self.credential = credential
    }

    /// The entry as a Protocol Buffers message, which contains the key.
    var message: SecretBytes {
        let name =
            credential.issuer.isEmpty
            ? credential.account : "\(credential.issuer):\(credential.account)"
        let capacity =
            credential.key.count + name.utf8.count + credential.issuer.utf8.count + 7 * 20
        return SecretBytes(capacity: capacity) { output in
            credential.key.withBytes { append($0, .key, to: &output) }
            append(Array(name.utf8).span, .name, to: &output)
            append(Array(credential.issuer.utf8).span, .issuer, to: &output)
            let algorithm: UInt64
            switch credential.algorithm {
            case .sha1: algorithm = 1
            case .sha256: algorithm = 2
            case .sha512: algorithm = 3
            }
            append(algorithm, .algorithm, to: &output)
            append(digits, .digits, to: &output)
            append(type, .type, to: &output)
            if let counter { append(counter, .counter, to: &output) }
        }
    }

    private func append(
        _ bytes: Span<UInt8>, _ field: MigrationEntryField, to output: inout OutputSpan<UInt8>
    ) {
        ProtobufWriter.append(bytes, field: field.rawValue, to: &output)
    }

    private func append(
        _ number: UInt64, _ field: MigrationEntryField, to output: inout OutputSpan<UInt8>
    ) {
        ProtobufWriter.append(number, field: field.rawValue, to: &output)
    }
}
