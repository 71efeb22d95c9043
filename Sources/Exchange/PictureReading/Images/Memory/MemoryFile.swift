/// A file in memory that a C library reads through callbacks.
///
/// The library gets ``handle``, and the owner keeps the object alive while it is used.
@safe final class MemoryFile {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// What the library passes to the callbacks.
    var handle: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    /// The file that has this handle; `nil` for a null pointer.
    static func with(_ handle: UnsafeMutableRawPointer?) -> MemoryFile? {
        guard let handle = unsafe handle else { return nil }
        return unsafe Unmanaged<MemoryFile>.fromOpaque(handle).takeUnretainedValue()
    }

    /// Copies up to `count` bytes from the position to `target`, which must have room for them, and
    /// moves the position; returns how many were copied.
    func read(into target: UnsafeMutableRawPointer?, count: Int) -> Int {
        let available = min(count, bytes.count - position)
        guard available > 0, let target = unsafe target else { return 0 }
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe target.copyMemory(from: start + position, byteCount: available)
        }
        position += available
        return available
    }

    /// Moves the position; returns the new one, or `nil` if it would be outside the file.
    func seek(to target: Int) -> Int? {
        guard (0...bytes.count).contains(target) else { return nil }
        position = target
        return target
    }

    /// The position of the next byte to read.
    var offset: Int { position }
}
