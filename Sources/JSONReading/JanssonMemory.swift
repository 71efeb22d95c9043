internal import CJansson
internal import Glibc

/// The memory that jansson uses; it is wiped before it is freed, because texts may be secret.
///
/// It is ordinary memory, because a request with many members would fill the locked heap. Each
/// block is preceded by its size, which only these two functions use.
enum JanssonMemory {
    /// Preserves `malloc`'s alignment.
    private static let front = 16

    // A `static let` is initialised once, before the first document is parsed.
    private static let isReady: Bool = {
        unsafe json_set_alloc_funcs(allocate, release)
        return true
    }()

    /// Registers the functions with the library if this has not been done yet.
    static func prepare() { _ = isReady }

    private static let allocate: @convention(c) (Int) -> UnsafeMutableRawPointer? = { count in
        let (whole, isTooLarge) = count.addingReportingOverflow(front)
        guard !isTooLarge, let block = unsafe malloc(whole) else { return nil }
        unsafe block.storeBytes(of: count, as: Int.self)
        return unsafe block + front
    }

    private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { memory in
        guard let memory = unsafe memory else { return }
        let block = unsafe memory - front
        unsafe explicit_bzero(memory, block.load(as: Int.self))
        unsafe free(block)
    }
}
