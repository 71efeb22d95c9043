internal import Exports
internal import WatchwordCryptography

// Formats without a MAC accept one wrong password in about 256 by its padding alone, so the
// plaintext must be plausible as well.
extension Decryption {
    /// Returns `text` if it may be JSON: UTF-8 that begins like an object or a list.
    ///
    /// - Throws: ``ExportError/wrongPassword(_:)``.
    func checkedJSON(_ text: SecretBytes) throws(ExportError) -> SecretBytes {
        let first = text.withBytes { text in
            text.indices.first { ![0x09, 0x0A, 0x0D, 0x20].contains(text[$0]) }.map { text[$0] }
        }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            throw .wrongPassword(format)
        }
        return try checkedText(text)
    }

    /// Returns `text` if it is UTF-8 without control characters but tabs and line breaks.
    ///
    /// - Throws: ``ExportError/wrongPassword(_:)``.
    func checkedText(_ text: SecretBytes) throws(ExportError) -> SecretBytes {
        guard text.count > 0, text.withBytes({ $0.isText }) else { throw .wrongPassword(format) }
        return text
    }
}
