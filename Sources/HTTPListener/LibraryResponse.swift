internal import CMicroHTTPD
internal import Cryptography

/// A response in libmicrohttpd's form; freed with its last owner.
@safe struct LibraryResponse: ~Copyable {
    private let handle: OpaquePointer

    /// Takes the body as it is; libmicrohttpd gives it back once it is sent.
    ///
    /// `nil` when there is no memory.
    init?(body: SecretBytes) {
        let kept = unsafe Unmanaged.passRetained(body)
        // The bytes of a `SecretBytes` never move, and the free callback gives up the reference.
        let made = unsafe body.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe MHD_create_response_from_buffer_with_free_callback_cls(
                    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                    { kept in
                        guard let kept = unsafe kept else { return }
                        unsafe Unmanaged<SecretBytes>.fromOpaque(kept).release()
                    }, kept.toOpaque())
            }
        }
        guard let made = unsafe made else {
            unsafe kept.release()
            return nil
        }
        unsafe handle = unsafe made
    }

    deinit { unsafe MHD_destroy_response(handle) }

    /// Adds a header; says no when there is a line end or a NUL in it.
    func add(_ header: ListenerHeader) -> Bool {
        unsafe MHD_add_response_header(handle, header.name, header.value) == .YES
    }

    /// Hands it to libmicrohttpd, which keeps its own reference.
    func queue(on connection: OpaquePointer, status: Int) -> MHD_Result {
        unsafe MHD_queue_response(connection, UInt32(status), handle)
    }
}

/// Takes the place of libmicrohttpd's function of this name, and makes no response.
///
/// libmicrohttpd calls it for one thing: the HTML page with which it answers what its parser cannot read
/// (a line without a colon, a length that is no number, a head over its memory, another HTTP version).
/// Without a page, it closes the connection. A program's own symbol comes before a library's (the ELF
/// rules for symbol lookup); where a build of the library does not look its own functions up, the pages
/// come back, and `RefusalTests` notices.
@c(MHD_create_response_from_buffer)
public func makeNoLibraryPage(
    _ size: Int, _ buffer: UnsafeMutableRawPointer?, _ mode: CInt
) -> OpaquePointer? { nil }
