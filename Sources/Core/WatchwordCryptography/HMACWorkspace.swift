internal import COpenSSL

/// Stack memory for a hash context, followed by one block and one key.
///
/// After a code has been computed, the workspace holds the code's digest, which lives no longer
/// than the code. After a key has been prepared, the workspace would hold the key, so it is wiped.
@unsafe struct HMACWorkspace<Function: CompressionFunction> {
    typealias Word = Function.Word

    /// OpenSSL's context, which begins with the state.
    let context: UnsafeMutablePointer<Function.Context>
    /// The block for the next compression.
    let block: UnsafeMutableRawPointer

    /// Space for a key, padded to a block; only the preparation of a key uses it.
    ///
    /// The key is not kept in a variable, because a variable could be spilled to the stack across a
    /// call and would not be wiped there.
    @inline(__always)
    var key: UnsafeMutableRawPointer { unsafe block + Function.blockCount }

    private static var contextCount: Int { (MemoryLayout<Function.Context>.size + 15) & ~15 }
    private static var count: Int { unsafe contextCount + 2 * Function.blockCount }

    /// Lends an uninitialised workspace.
    @inline(__always)
    static func lend<Result>(_ body: (HMACWorkspace) -> Result) -> Result {
        // An alignment above 16 would be allocated on the heap.
        unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { memory in
            guard let start = memory.baseAddress else {
                preconditionFailure("stack memory has an address")
            }
            return unsafe body(
                HMACWorkspace(
                    context: start.assumingMemoryBound(to: Function.Context.self),
                    block: start + contextCount))
        }
    }

    /// The key with each byte XORed with a pad byte (RFC 2104, section 2).
    @inline(__always)
    func key(under pad: Word) -> SIMD16<Word> {
        unsafe key.load(as: SIMD16<Word>.self) ^ SIMD16(repeating: pad &* (Word.max / 255))
    }

    /// The current state.
    @inline(__always)
    var state: SIMD8<Word> { unsafe Function.state(at: context) }

    /// Compresses `words` into `state`.
    @inline(__always)
    func run(_ words: SIMD16<Word>, from state: SIMD8<Word>) -> SIMD8<Word> {
        unsafe UnsafeMutableRawPointer(context).storeBytes(of: state, as: SIMD8<Word>.self)
        unsafe block.storeBytes(of: words, as: SIMD16<Word>.self)
        unsafe Function.compress(context, block)
        return unsafe self.state
    }

    /// The dynamic truncation of RFC 4226, section 5.3, of the state: a 31-bit number.
    @inline(__always)
    var truncation: UInt32 {
        let offset = Int(unsafe word(Function.digestCount / 4 - 1) & 15)
        // One bit higher than needed, so that the last shift drops the top bit.
        let first = UInt64(unsafe word(offset >> 2)) << 33
        let second = UInt64(unsafe word((offset >> 2) + 1)) << 1
        let bits = UInt64((offset & 3) * 8)
        return UInt32(truncatingIfNeeded: ((first | second) &<< bits) >> 33)
    }

    /// A 32-bit word of the digest, loaded no wider than it was stored.
    @inline(__always)
    private func word(_ index: Int) -> UInt32 {
        let memory = unsafe UnsafeRawPointer(context)
        if Word.bitWidth == 32 {
            return unsafe memory.load(fromByteOffset: 4 * index, as: UInt32.self)
        }
        let wide = unsafe memory.load(fromByteOffset: 8 * (index >> 1), as: UInt64.self)
        return UInt32(truncatingIfNeeded: wide >> UInt64(32 - 32 * (index & 1)))
    }

    /// Wipes the context, the block and the key.
    @inline(__always)
    func wipe() { unsafe OPENSSL_cleanse(context, Self.count) }
}
