internal import CMicroHTTPD
internal import WatchwordCoding
internal import WatchwordCryptography

/// A libmicrohttpd response, freed with its last owner.
@safe struct LibraryResponse: ~Copyable {
    private let handle: OpaquePointer

    /// Uses the body without copying it; libmicrohttpd releases it once it is sent.
    ///
    /// Returns `nil` if memory runs out.
    init?(body: SecretBytes) {
        let kept = unsafe Unmanaged.passRetained(body)
        // The bytes of a `SecretBytes` never move, and the free callback releases the reference.
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

    /// Adds a header.
    ///
    /// Returns false if it contains a line ending or NUL.
    func add(_ header: HTTPField) -> Bool {
        unsafe MHD_add_response_header(handle, header.name, header.value) == .YES
    }

    /// Queues the response; libmicrohttpd keeps its own reference.
    func queue(on connection: OpaquePointer, status: Int) -> MHD_Result {
        unsafe MHD_queue_response(connection, UInt32(status), handle)
    }
}

/// Replaces libmicrohttpd's function of this name, and creates no response.
///
/// libmicrohttpd calls it only for the HTML page with which it answers requests that its parser
/// cannot read (a line without a colon, an invalid length, a head that exceeds its memory, another
/// HTTP version). Without a page, it closes the connection. A program's own symbol takes precedence
/// over a library's (ELF symbol lookup). If a build of the library binds its own functions
/// directly, the pages come back, and `RefusalTests` fails.
@c(MHD_create_response_from_buffer)
public func makeNoLibraryPage(
    _ size: Int, _ buffer: UnsafeMutableRawPointer?, _ mode: CInt
) -> OpaquePointer? { nil }
