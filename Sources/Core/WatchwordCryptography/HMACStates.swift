internal import COpenSSL

/// HMAC (RFC 2104) over a key's two prepared states, one block at a time.
///
/// A message is short and of known length, so it fits into one padded block. The block is built as
/// a vector, because the processor can forward only sixteen-byte stores to the loads of the
/// compression function.
enum HMACStates<Function: CompressionFunction> {
    private typealias Word = Function.Word
    private typealias Block = SIMD16<Function.Word>
    private typealias State = SIMD8<Function.Word>
    private typealias Workspace = HMACWorkspace<Function>

    /// Writes the states after the inner and the outer pad, one after the other.
    static func prepare(_ key: Span<UInt8>, at states: UnsafeMutableRawPointer) {
        unsafe Workspace.lend { workspace in
            let start = unsafe begin(key, in: workspace)
            unsafe states.storeBytes(
                of: workspace.run(workspace.key(under: 0x36), from: start), as: State.self)
            unsafe states.storeBytes(
                of: workspace.run(workspace.key(under: 0x5c), from: start),
                toByteOffset: MemoryLayout<State>.size, as: State.self)
            unsafe workspace.wipe()
        }
    }

    /// The HMAC of `counter` as eight bytes.
    static func authenticate(_ counter: UInt64, from states: UnsafeRawPointer) -> CounterDigest {
        unsafe Workspace.lend { workspace in
            unsafe authenticate(counter, from: states, in: workspace)
            return CounterDigest(
                words: Function.digestWords(unsafe workspace.state),
                count: Function.digestCount / 4)
        }
    }

    /// The same HMAC, truncated to 31 bits in place.
    @inline(__always)
    static func truncate(_ counter: UInt64, from states: UnsafeRawPointer) -> UInt32 {
        unsafe Workspace.lend { workspace in
            unsafe authenticate(counter, from: states, in: workspace)
            return unsafe workspace.truncation
        }
    }

    /// The truncated HMAC under a key that was not prepared and is used once: four compressions.
    ///
    /// Nothing is kept.
    @inline(__always)
    static func truncate(_ counter: UInt64, key: Span<UInt8>) -> UInt32 {
        unsafe Workspace.lend { workspace in
            let start = unsafe begin(key, in: workspace)
            let inner = unsafe workspace.run(workspace.key(under: 0x36), from: start)
            let middle = unsafe workspace.run(message(counter), from: inner)
            let outer = unsafe workspace.run(workspace.key(under: 0x5c), from: start)
            _ = unsafe workspace.run(message(middle), from: outer)
            let truncation = unsafe workspace.truncation
            unsafe workspace.wipe()
            return truncation
        }
    }

    @inline(__always)
    private static func authenticate(
        _ counter: UInt64, from states: UnsafeRawPointer, in workspace: Workspace
    ) {
        let inner = unsafe states.load(as: State.self)
        let middle = unsafe workspace.run(message(counter), from: inner)
        let outer = unsafe states.load(fromByteOffset: MemoryLayout<State>.size, as: State.self)
        _ = unsafe workspace.run(message(middle), from: outer)
    }

    /// Writes the key, or the digest of a longer one, padded with zeros.
    ///
    /// Returns the initial hash state.
    @inline(__always)
    private static func begin(_ key: Span<UInt8>, in workspace: Workspace) -> State {
        let padded = unsafe workspace.key
        unsafe padded.storeBytes(of: .zero, as: Block.self)
        unsafe key.withUnsafeBytes { key in
            if key.count > Function.blockCount {
                unsafe Function.hash(key, to: padded.assumingMemoryBound(to: UInt8.self))
            } else {
                unsafe UnsafeMutableRawBufferPointer(start: padded, count: Function.blockCount)
                    .copyMemory(from: key)
            }
        }
        unsafe Function.start(workspace.context)
        return unsafe workspace.state
    }

    /// The last block of a message that consists of the padded key's block and a counter.
    @inline(__always)
    private static func message(_ counter: UInt64) -> Block {
        // The counter and the end-of-message bit are the first sixteen bytes for every word size.
        var block = Function.block(counter.bigEndian, (UInt64(1) << 63).bigEndian)
        block[15] = bitCount(ofMessage: 8)
        return block
    }

    /// The last block of a message that consists of the padded key's block and a digest.
    @inline(__always)
    private static func message(_ digest: State) -> Block {
        var block = Block.zero
        for index in 0..<Function.stateWords { block[index] = digest[index].bigEndian }
        block[Function.stateWords] = firstPadding
        block[15] = bitCount(ofMessage: Function.digestCount)
        return block
    }

    /// The bit that marks the end of a message (FIPS 180-4, section 5.1).
    @inline(__always)
    private static var firstPadding: Word { (Word(1) << Word(Word.bitWidth - 1)).bigEndian }

    /// The message length in bits (the padded key's block and what follows), as the last word.
    @inline(__always)
    private static func bitCount(ofMessage count: Int) -> Word {
        Word(truncatingIfNeeded: (Function.blockCount + count) * 8).bigEndian
    }
}

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

    @inline(__always)
    var state: SIMD8<Word> { unsafe Function.state(at: context) }

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
