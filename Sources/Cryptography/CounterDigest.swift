/// The HMAC of a counter, kept in registers or on the stack.
///
/// It is as secret as the code that is cut from it.
public struct CounterDigest: Sendable {
    /// The digest in big-endian words of 32 bits, zeros behind it.
    private let words: SIMD16<UInt32>
    /// How many words the digest has: 5, 8 or 16.
    private let count: Int

    init(words: SIMD16<UInt32>, count: Int) {
        self.words = words
        self.count = count
    }

    /// Four bytes from where the last byte's low half points to, without the topmost bit.
    ///
    /// That is the dynamic truncation of RFC 4226, section 5.3: a number of 31 bits.
    public var truncated: UInt32 {
        let offset = Int(words[count - 1] & 15)
        // The four bytes lie in one word or in two neighbours. The offset ends at 15, a digest's
        // bytes at 19 or later, so there always is a neighbour.
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
