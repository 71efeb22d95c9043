internal import CJansson
internal import Glibc

/// The memory that jansson works in: wiped before it is given back, for texts may be secrets.
///
/// It is ordinary memory and not the locked heap, which a request of many members would fill. Each
/// block carries its size in front, where nobody but these two functions looks.
enum JanssonMemory {
    /// Keeps what follows as aligned as `malloc` gives it.
    private static let front = 16

    // A `static let` runs once, whoever comes first: before the first document is parsed.
    private static let isReady: Bool = {
        unsafe json_set_alloc_funcs(allocate, release)
        return true
    }()

    /// Hands the functions to the library unless it has them.
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
