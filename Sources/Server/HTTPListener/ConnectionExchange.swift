internal import CMicroHTTPD
internal import Synchronization
internal import WatchwordCoding
internal import WatchwordCryptography

/// One request and its response, from the first line to the last byte.
final class ConnectionExchange: Sendable {
    /// The state of the exchange.
    enum Stage {
        /// The first line has arrived; this is the target as sent.
        case begun(target: [UInt8])
        /// The head was accepted, and the body is arriving.
        case receiving(ValidatedHead, body: [UInt8])
        /// The request is refused; at most this many bytes of its remaining body are discarded
        /// first.
        case refusing(HTTPRequestError, discarding: Int)
        /// The handler is working on the request.
        case handling
        /// The response can be sent.
        case answered(HTTPResponse)
        /// The exchange is complete.
        case sent
    }

    private let stage: Mutex<Stage>

    init(target: [UInt8]) { stage = Mutex(.begun(target: target)) }

    func withStage<Result: Sendable>(_ body: (inout Stage) -> Result) -> Result {
        stage.withLock { body(&$0) }
    }

    /// Receives a part of the body.
    ///
    /// Returns whether to continue.
    func receive(_ part: UnsafeBufferPointer<UInt8>, limit: Int) -> Bool {
        stage.withLock { stage in
            switch stage {
            case .receiving(let head, var body):
                // Release the other reference, so that the array grows in place.
                stage = .sent
                guard body.count + part.count <= limit else {
                    stage = .refusing(.bodyTooLarge, discarding: ConnectionExchange.discardLimit)
                    return true
                }
                unsafe body.append(contentsOf: part)
                stage = .receiving(head, body: body)
                return true
            case .refusing(let refusal, let left):
                guard part.count <= left else { return false }
                stage = .refusing(refusal, discarding: left - part.count)
                return true
            case .begun, .handling, .answered, .sent:
                return false
            }
        }
    }

    /// Whether the request is incomplete and has not been refused.
    var isIncomplete: Bool {
        stage.withLock { stage in
            switch stage {
            case .begun, .receiving: true
            case .refusing, .handling, .answered, .sent: false
            }
        }
    }

    /// The number of bytes of a refused body that are read and discarded.
    ///
    /// A connection that is closed with unread bytes is reset, and the client would not see the
    /// reason.
    static let discardLimit = 1 << 20
}

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
