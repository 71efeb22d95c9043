internal import WatchwordCryptography
internal import WatchwordSystem

// The protocol between `watchword` and `watchword-courier`. Numbers are little-endian; a string is
// its length (4 bytes) and its bytes.
//
// - watchword → helper, once: a frame, which is a length (4 bytes) and a ``HelperRequest``.
// - helper → watchword, once: a ``Reply``, then the end of the pipe.

/// The limits that both ends observe.
enum HelperProtocol {
    static let version: UInt8 = 3
    /// The maximum length of a request in bytes; most of it is certificates.
    static let largestRequest = 1 << 18
    /// The maximum length of a reply in bytes.
    static let largestReply = 1 << 12
    /// The maximum length in bytes of the authorities' certificates in a request.
    static let largestAuthorities = 1 << 17
    static let longestText = 1 << 10
    /// The maximum length of a public key or a signature in bytes.
    static let longestKey = 128
}

/// Appends fields to memory that is wiped.
struct FieldWriter {
    let buffer: WipedBuffer

    func byte(_ value: UInt8) { buffer.append { $0.append(value) } }

    func number(_ value: UInt64, width: Int) {
        buffer.append { output in
            for index in 0..<width {
                output.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
            }
        }
    }

    func string(_ text: String) { string(Array(text.utf8).span) }

    func string(_ secret: SecretBytes) { secret.withBytes { string($0) } }

    func string(_ bytes: Span<UInt8>) {
        number(UInt64(bytes.count), width: 4)
        buffer.append { output in
            output.append(copying: bytes)
        }
    }
}

extension FieldReader {
    init() { self.init(.littleEndian) }

    mutating func text(_ bytes: Span<UInt8>) throws(Unreadable) -> String {
        try text(bytes, limit: HelperProtocol.longestText)
    }

    mutating func token(_ bytes: Span<UInt8>) throws(Unreadable) -> Token {
        guard let token = Token(try text(bytes, limit: Token.longest)) else { throw Unreadable() }
        return token
    }

    /// Reads a token that is a secret.
    mutating func secret(_ bytes: Span<UInt8>) throws(Unreadable) -> SecretBytes {
        let range = try string(bytes, limit: Token.longest)
        let secret = SecretBytes(copying: bytes.extracting(range))
        guard Token.isToken(secret) else { throw Unreadable() }
        return secret
    }

    mutating func plain(_ bytes: Span<UInt8>) throws(Unreadable) -> PlainText {
        let text = try text(bytes, limit: PlainText.longest)
        guard text.utf8.allSatisfy(PlainText.isPlain) else { throw Unreadable() }
        return PlainText(showing: text)
    }
}
