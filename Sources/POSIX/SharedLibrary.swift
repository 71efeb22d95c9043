internal import Glibc

/// A library of the system that is loaded when something first needs it.
///
/// It is for what few runs of a program need: every library that is loaded at the start costs each run
/// a tenth of a millisecond, needed or not. Once loaded, it stays for as long as the process lives.
@safe public struct SharedLibrary: @unchecked Sendable {
    // Sendable by hand: a handle that is never closed, for calls that any thread may make.
    private let handle: UnsafeMutableRawPointer

    /// Loads the library of this name, as the system's linker would have; `nil` when it is not there.
    ///
    /// - Parameter name: The name that programs are linked with: `libpng16.so.16`.
    public init?(_ name: String) {
        guard let opened = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        unsafe handle = opened
    }

    /// The library's function `name`; `nil` when it has none.
    ///
    /// - Parameter type: The function's type, with C's convention, exactly as the library's header says:
    ///   nobody checks it.
    @unsafe public func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let address = unsafe dlsym(handle, name) else { return nil }
        return unsafe unsafeBitCast(address, to: type)
    }
}
