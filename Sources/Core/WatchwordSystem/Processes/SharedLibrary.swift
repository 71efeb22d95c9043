internal import Glibc

/// A system library that is loaded when it is first needed.
///
/// It is meant for libraries that few runs of a program need: loading a library at startup takes a
/// tenth of a millisecond per run. A loaded library stays loaded.
@safe public struct SharedLibrary: @unchecked Sendable {
    // `@unchecked Sendable`: the handle is never closed, and its calls are thread-safe.
    private let handle: UnsafeMutableRawPointer

    /// Loads a library by name, as the dynamic linker would; `nil` if it is not installed.
    ///
    /// - Parameter name: the name that programs are linked with, such as `libpng16.so.16`.
    public init?(_ name: String) {
        guard let opened = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        unsafe handle = opened
    }

    /// The library's function `name`; `nil` if it does not exist.
    ///
    /// - Parameter type: the function's type with the C convention, which must match the library's
    ///   header; this is not checked.
    @unsafe public func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let address = unsafe dlsym(handle, name) else { return nil }
        return unsafe unsafeBitCast(address, to: type)
    }
}
