internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

extension SecretBytes {
    /// Bytes that are not secret.
    convenience init(_ bytes: [UInt8]) { self.init(copying: bytes.span) }

    /// Whether all bytes are ASCII.
    var isASCII: Bool {
        withBytes { bytes in bytes.indices.allSatisfy { bytes[$0] < 0x80 } }
    }

    /// The text without spaces, tabs and line breaks.
    var withoutSpaces: SecretBytes {
        withBytes { bytes in
            SecretBytes(capacity: bytes.count) { output in
                for index in bytes.indices where !bytes[index].isASCIISpace {
                    output.append(bytes[index])
                }
            }
        }
    }

    /// The bytes that hexadecimal digits encode, or `nil` for any other text.
    func decodedHex() -> SecretBytes? {
        decoded(Hexadecimal.decode)
    }

    /// The bytes that standard Base64 with padding encodes, or `nil` for any other text.
    func decodedBase64() -> SecretBytes? {
        decoded(Base64.decodeSecret)
    }

    /// The bytes that one Base64 text encodes, which may be broken into lines.
    func decodedBase64Lines() -> SecretBytes? { withoutSpaces.decodedBase64() }

    /// The bytes that Base32 encodes in any form that apps write, or `nil` for any other text.
    func decodedBase32() -> (secret: SecretBytes, tolerances: [Base32Deviation])? {
        decoded { try Base32.decodeTolerantly($0) }
    }

    /// The value that the text encodes, or `nil` for any other text.
    private func decoded<Value>(_ decode: (Span<UInt8>) throws -> Value) -> Value? {
        do { return try withBytes(decode) } catch { return nil }
    }

    /// The bytes as lower-case hexadecimal digits.
    func encodedHex() -> SecretBytes { Hexadecimal.encode(self) }

    /// A copy of part of the bytes.
    func part(_ range: Range<Int>) -> SecretBytes {
        withBytes { SecretBytes(copying: $0.extracting(range)) }
    }

    /// The bytes as a row's text that is not secret.
    ///
    /// - Throws: ``ExportRowRefusal/malformed`` if they are not UTF-8.
    func name() throws(ExportRowRefusal) -> String {
        guard let text = decodedText() else { throw .malformed }
        return text
    }

    /// The bytes as text that is not secret, or `nil` if they are not UTF-8.
    func decodedText() -> String? {
        withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) }
    }

    /// The text with HTML's entities for ASCII characters decoded.
    convenience init(unescaping text: Span<UInt8>) {
        let entities: [(String, UInt8)] = [
            ("&amp;", UInt8(ascii: "&")), ("&lt;", UInt8(ascii: "<")),
            ("&gt;", UInt8(ascii: ">")), ("&quot;", UInt8(ascii: "\"")),
            ("&#39;", UInt8(ascii: "'")), ("&#x27;", UInt8(ascii: "'")),
            ("&#x2b;", UInt8(ascii: "+")), ("&#43;", UInt8(ascii: "+")),
        ]
        self.init(capacity: text.count) { output in
            var index = 0
            while index < text.count {
                let rest = text.extracting(index...)
                if let (entity, byte) = entities.first(where: { rest.hasPrefixIgnoringCase($0.0) })
                {
                    output.append(byte)
                    index += entity.utf8.count
                } else {
                    output.append(text[index])
                    index += 1
                }
            }
        }
    }
}
