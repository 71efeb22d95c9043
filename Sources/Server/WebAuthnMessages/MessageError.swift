internal import WatchwordCoding
internal import WatchwordCryptography

/// Why the object that a browser returned cannot be read.
public enum WebAuthnMessageError: Error, Hashable, Sendable {
    /// This member is missing or malformed; members of inner objects are separated by a dot.
    case member(String)
}

extension JSONValue {
    /// A text in base64url that decodes to a permitted number of bytes.
    func decoded(
        _ name: String, in object: String = "", counts: ClosedRange<Int>
    ) throws(WebAuthnMessageError) -> [UInt8] {
        let place = object + name
        guard let text = self[name]?.secretText else { throw .member(place) }
        let bytes: [UInt8]
        do throws(Base64Error) {
            bytes = try text.withBytes { text throws(Base64Error) in try Base64URL.decode(text) }
        } catch { throw .member(place) }
        guard counts.contains(bytes.count) else { throw .member(place) }
        return bytes
    }
}
