/// Why a call into libgcrypt or libsodium has no result.
///
/// It never contains content.
public enum ExportCryptographyError: Error, Hashable, Sendable {
    /// A key, nonce or text has the wrong length.
    case length
    /// The key is wrong, or the text was changed; these are indistinguishable.
    case wrongKey
    /// There is not enough memory.
    case outOfMemory
    /// A call failed, with the library's code.
    case failed(call: String, code: UInt32)
}
