internal import CLinux
internal import Glibc

/// `malloc` and its relatives for C libraries, except that memory is wiped before it is freed.
///
/// It is ordinary memory, because a large document would fill the locked heap. The blocks are
/// `malloc`'s own: a library may free here what it allocated before these functions were
/// registered.
public enum WipingAllocator {
    /// Replaces `malloc`.
    public static let allocate: @convention(c) (Int) -> UnsafeMutableRawPointer? = { count in
        unsafe malloc(count)
    }

    /// Replaces `free`.
    public static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { memory in
        guard let memory = unsafe memory else { return }
        unsafe explicit_bzero(memory, size(memory))
        unsafe free(memory)
    }

    /// Replaces `realloc`; the block always moves.
    public static let reallocate:
        @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer? = {
            memory, count in
            guard let moved = unsafe malloc(count) else { return nil }
            guard let memory = unsafe memory else { return unsafe moved }
            unsafe moved.copyMemory(
                from: memory, byteCount: min(count, size(memory)))
            unsafe release(memory)
            return unsafe moved
        }

    /// Replaces `strdup`.
    public static let duplicate:
        @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? = { text in
            guard let text = unsafe text else { return nil }
            return unsafe strdup(text)
        }

    /// Replaces `malloc_usable_size`.
    public static let size: @convention(c) (UnsafeMutableRawPointer?) -> Int = { memory in
        Int(unsafe linux_usable_size(memory))
    }
}
