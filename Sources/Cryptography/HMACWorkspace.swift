internal import COpenSSL

/// Memory of the stack for a hash's context, one block behind it, and a key behind that.
///
/// What is left there after a code is the code's own digest, as short-lived as the code; what is
/// left after a key's preparation would be the key, and is wiped.
@unsafe struct HMACWorkspace<Function: CompressionFunction> {
    typealias Word = Function.Word

    /// OpenSSL's context, of which the state is the beginning.
    let context: UnsafeMutablePointer<Function.Context>
    /// The block that the next compression takes.
    let block: UnsafeMutableRawPointer

    /// Room for a key, padded to a block; only its preparation uses it.
    ///
    /// A key is not held in a variable: that would be spilled to the stack across a call, where
    /// nobody wipes it.
    @inline(__always)
    var key: UnsafeMutableRawPointer { unsafe block + Function.blockCount }

    private static var contextCount: Int { (MemoryLayout<Function.Context>.size + 15) & ~15 }
    private static var count: Int { unsafe contextCount + 2 * Function.blockCount }

    /// Lends a workspace, not initialised.
    @inline(__always)
    static func lend<Result>(_ body: (HMACWorkspace) -> Result) -> Result {
        // An alignment above 16 would come from the heap.
        unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { memory in
            guard let start = memory.baseAddress else {
                preconditionFailure("a piece of the stack has an address")
            }
            return unsafe body(
                HMACWorkspace(
                    context: start.assumingMemoryBound(to: Function.Context.self),
                    block: start + contextCount))
        }
    }

    /// The key with a pad over each byte (RFC 2104, section 2).
    @inline(__always)
    func key(under pad: Word) -> SIMD16<Word> {
        unsafe key.load(as: SIMD16<Word>.self) ^ SIMD16(repeating: pad &* (Word.max / 255))
    }

    /// What the compressions have come to.
    @inline(__always)
    var state: SIMD8<Word> { unsafe Function.state(at: context) }

    /// One compression of `words` into `state`.
    @inline(__always)
    func run(_ words: SIMD16<Word>, from state: SIMD8<Word>) -> SIMD8<Word> {
        unsafe UnsafeMutableRawPointer(context).storeBytes(of: state, as: SIMD8<Word>.self)
        unsafe block.storeBytes(of: words, as: SIMD16<Word>.self)
        unsafe Function.compress(context, block)
        return unsafe self.state
    }

    /// Four bytes of the state from where its last byte's low half points to, without the topmost
    /// bit.
    ///
    /// That is the dynamic truncation of RFC 4226, section 5.3.
    @inline(__always)
    var truncation: UInt32 {
        let offset = Int(unsafe word(Function.digestCount / 4 - 1) & 15)
        // One place higher than they belong, so that the last shift drops the topmost bit, too.
        let first = UInt64(unsafe word(offset >> 2)) << 33
        let second = UInt64(unsafe word((offset >> 2) + 1)) << 1
        let bits = UInt64((offset & 3) * 8)
        return UInt32(truncatingIfNeeded: ((first | second) &<< bits) >> 33)
    }

    /// A word of the digest, in 32 bits, loaded no wider than it was stored.
    @inline(__always)
    private func word(_ index: Int) -> UInt32 {
        let memory = unsafe UnsafeRawPointer(context)
        if Word.bitWidth == 32 {
            return unsafe memory.load(fromByteOffset: 4 * index, as: UInt32.self)
        }
        let wide = unsafe memory.load(fromByteOffset: 8 * (index >> 1), as: UInt64.self)
        return UInt32(truncatingIfNeeded: wide >> UInt64(32 - 32 * (index & 1)))
    }

    /// Wipes context, block and key.
    @inline(__always)
    func wipe() { unsafe OPENSSL_cleanse(context, Self.count) }
}
