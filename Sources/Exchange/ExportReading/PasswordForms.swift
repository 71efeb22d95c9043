internal import Exports
internal import WatchwordCryptography
// The standard library's normalisation has no public interface. Foundation's would load megabytes
// of tables into the confined process.
@_spi(_Unicode) internal import Swift

/// Reads the rows with the password as given, and if it is wrong, with its composed form.
///
/// Systems encode typed characters in different forms: "ä" is one code point or two.
func readRows(
    _ source: ExportSource, anyFormOf password: SecretBytes?
) throws(ExportError) -> ExportRows {
    do { return try readRows(source, password: password) } catch {
        guard case .wrongPassword = error, let password, let composed = password.composed else {
            throw error
        }
        do { return try readRows(source, password: composed) } catch .wrongPassword {
            throw error
        }
    }
}

extension SecretBytes {
    /// The text in normalisation form C, or `nil` if that is the same text.
    var composed: SecretBytes? {
        // Normalisation needs a `String`, a copy that is not wiped.
        guard !isASCII, let text = decodedText() else { return nil }
        var bytes: [UInt8] = []
        for scalar in text._nfc { bytes += Array(String(scalar).utf8) }
        let composed = SecretBytes(copying: bytes.span)
        return composed == self ? nil : composed
    }
}
