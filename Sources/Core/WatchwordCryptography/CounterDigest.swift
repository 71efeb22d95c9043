/// The HMAC of a counter, kept in registers or on the stack.
///
/// It is as secret as the code that is derived from it.
public struct CounterDigest: Sendable {
    /// The digest in big-endian 32-bit words, padded with zeros.
    private let words: SIMD16<UInt32>
    /// The number of words in the digest: 5, 8 or 16.
    private let count: Int

    init(words: SIMD16<UInt32>, count: Int) {
        self.words = words
        self.count = count
    }

    /// The dynamic truncation of RFC 4226, section 5.3: a 31-bit number.
    ///
    /// The low four bits of the last byte are the offset of four bytes, of which the top bit is
    /// cleared.
    public var truncated: UInt32 {
        let offset = Int(words[count - 1] & 15)
        // The four bytes are in one word or in two adjacent ones. The offset is at most 15 and a
        // digest has at least 20 bytes, so the second word always exists.
        let pair = UInt64(words[offset >> 2]) << 32 | UInt64(words[(offset >> 2) + 1])
        return UInt32(truncatingIfNeeded: (pair &<< UInt64((offset & 3) * 8)) >> 32) & 0x7fff_ffff
    }

    /// The digest's bytes.
    public var bytes: [UInt8] {
        (0..<4 * count).map { index in
            UInt8(truncatingIfNeeded: words[index / 4] >> UInt32(24 - index % 4 * 8))
        }
    }
}
