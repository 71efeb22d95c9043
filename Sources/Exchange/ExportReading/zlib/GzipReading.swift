internal import CZlib
internal import Exports
public import WatchwordCryptography
internal import WatchwordSystem

/// Decompresses one gzip member (RFC 1952) that ends where `compressed` ends.
///
/// The result has exactly the length that the member states, which is checked before memory is
/// allocated: at most `limit` bytes, and at most 100 times the compressed length beyond the first
/// mebibyte. The library's own copies are wiped.
///
/// - Throws: ``ContainerError``.
public func gunzip(
    _ compressed: Span<UInt8>, limit: Int
) throws(ContainerError) -> SecretBytes {
    // The shortest member has a header of 10 bytes, 2 bytes of data and a trailer of 8.
    guard compressed.count >= 20 else { throw .damaged }
    var stated = 0
    for index in (compressed.count - 4..<compressed.count).reversed() {
        stated = stated << 8 | Int(compressed[index])
    }
    guard stated <= limit else {
        throw .overLimit(.documentSize, found: UInt64(stated), allowed: UInt64(limit))
    }
    let proportionate = (1 << 20) + 100 * compressed.count
    guard stated <= proportionate else {
        throw .overLimit(.compressionRatio, found: UInt64(stated), allowed: UInt64(proportionate))
    }
    let stream = try InflateStream()
    return try stream.inflate(compressed, count: stated)
}

/// Owns zlib's stream, whose memory is wiped when it is freed.
@safe private final class InflateStream {
    private let stream: UnsafeMutablePointer<z_stream>

    init() throws(ContainerError) {
        let made = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe made.initialize(to: z_stream())
        unsafe made.pointee.zalloc = allocateWiped
        unsafe made.pointee.zfree = freeWiped
        // 15 bits of window, and a gzip header instead of zlib's.
        let started = unsafe inflateInit2_(
            made, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard started == Z_OK else {
            unsafe made.deallocate()
            throw .outOfMemory
        }
        unsafe stream = made
    }

    func inflate(
        _ compressed: Span<UInt8>, count: Int
    ) throws(ContainerError) -> SecretBytes {
        guard let inputCount = UInt32(exactly: compressed.count), let room = UInt32(exactly: count)
        else { throw .damaged }
        // At least one byte, because the library refuses a null address.
        return try SecretBytes(capacity: max(count, 1)) { output throws(ContainerError) in
            try unsafe output.withUnsafeMutableBufferPointer {
                buffer, filled throws(ContainerError) in
                let result = unsafe compressed.withUnsafeBufferPointer { compressed in
                    unsafe stream.pointee.next_in = UnsafeMutablePointer(
                        mutating: compressed.baseAddress)
                    unsafe stream.pointee.avail_in = inputCount
                    unsafe stream.pointee.next_out = buffer.baseAddress
                    unsafe stream.pointee.avail_out = room
                    return unsafe CZlib.inflate(stream, Z_FINISH)
                }
                guard result != Z_MEM_ERROR else { throw .outOfMemory }
                guard result == Z_STREAM_END, unsafe stream.pointee.avail_in == 0,
                    unsafe stream.pointee.avail_out == 0
                else { throw .damaged }
                filled = count
            }
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }
}

// zlib's window holds what was decompressed last, so its memory is wiped.

func allocateWiped(_: voidpf?, items: uInt, size: uInt) -> voidpf? {
    unsafe WipingAllocator.allocate(Int(items) * Int(size))
}

func freeWiped(_: voidpf?, memory: voidpf?) { unsafe WipingAllocator.release(memory) }
