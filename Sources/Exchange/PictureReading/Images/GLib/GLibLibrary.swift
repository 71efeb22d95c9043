internal import WatchwordSystem

/// The functions of GLib that librsvg, gdk-pixbuf and poppler need.
///
/// Their headers are not used, because each would add dozens of headers to the build; all types are
/// opaque.
@safe struct GLibLibrary: Sendable {
    typealias Release = @convention(c) (OpaquePointer?) -> Void
    typealias NewBytes = @convention(c) (UnsafeRawPointer?, Int) -> OpaquePointer?
    typealias Connect =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UnsafeRawPointer?, UnsafeMutableRawPointer?,
            UnsafeRawPointer?, UInt32
        ) -> UInt

    /// `g_object_unref`.
    let releaseObject: Release
    /// `g_error_free`.
    let releaseError: Release
    /// `g_bytes_new_static`: refers to bytes without copying them.
    let newBytes: NewBytes
    /// `g_bytes_unref`.
    let releaseBytes: Release
    /// `g_signal_connect_data`.
    let connect: Connect

    /// Discards the messages of all libraries that use GLib, once per process.
    ///
    /// GLib would otherwise examine standard error before it writes a message, which a confined
    /// process must not do. A message could also contain parts of an image.
    private static let discardsMessages: Bool = {
        typealias Writer =
            @convention(c) (Int32, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32
        typealias SetWriter =
            @convention(c) (Writer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void
        guard let base = SharedLibrary("libglib-2.0.so.0"),
            let setWriter = unsafe base.function("g_log_set_writer_func", as: SetWriter.self)
        else { return false }
        // The result 1 means that the message was handled.
        unsafe setWriter({ _, _, _, _ in 1 }, nil, nil)
        return true
    }()

    /// The error code of a `GError`, which follows the four-byte domain; `nil` if there is no
    /// error.
    static func code(of error: OpaquePointer?) -> Int32? {
        guard let error = unsafe error else { return nil }
        return unsafe UnsafeRawPointer(error).load(fromByteOffset: 4, as: Int32.self)
    }

    init?() {
        guard GLibLibrary.discardsMessages, let base = SharedLibrary("libglib-2.0.so.0"),
            let objects = SharedLibrary("libgobject-2.0.so.0"),
            let releaseObject = unsafe objects.function("g_object_unref", as: Release.self),
            let releaseError = unsafe base.function("g_error_free", as: Release.self),
            let newBytes = unsafe base.function("g_bytes_new_static", as: NewBytes.self),
            let releaseBytes = unsafe base.function("g_bytes_unref", as: Release.self),
            let connect = unsafe objects.function("g_signal_connect_data", as: Connect.self)
        else { return nil }
        unsafe self.releaseObject = releaseObject
        unsafe self.releaseError = releaseError
        unsafe self.newBytes = newBytes
        unsafe self.releaseBytes = releaseBytes
        unsafe self.connect = connect
    }
}
