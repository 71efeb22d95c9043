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
