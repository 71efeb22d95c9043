internal import CCurl
internal import Courier

/// Receives libcurl's data within the limits, and supplies the connection to libcurl.
final class Receiver {
    private let socket: Int32
    private let limits: HTTPLimits
    private var body: [UInt8] = []
    private var headerCount = 0

    init(socket: Int32, limits: HTTPLimits) {
        self.socket = socket
        self.limits = limits
    }

    func response(status: Int, of client: borrowing CurlHandle) throws(HTTPHelperFailure)
        -> CurlResponse
    {
        CurlResponse(
            status: status, contentType: try client.contentType(),
            retryAfter: try client.retryAfter(), body: body)
    }

    static let takeBody: curl_write_callback = { bytes, size, count, data in
        guard let receiver = unsafe Receiver.of(data), let bytes = unsafe bytes else { return 0 }
        let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        // Accepting fewer bytes than offered ends the transfer.
        guard part.count <= receiver.limits.bodyBytes - receiver.body.count else { return 0 }
        unsafe receiver.body.append(contentsOf: part)
        return part.count
    }

    static let takeHeader: curl_write_callback = { _, size, count, data in
        guard let receiver = unsafe Receiver.of(data) else { return 0 }
        receiver.headerCount += size * count
        return receiver.headerCount <= receiver.limits.headerBytes ? size * count : 0
    }

    static let provideSocket: curl_opensocket_callback = { data, _, _ in
        unsafe Receiver.of(data)?.socket ?? -1
    }

    static let reportConnected: curl_sockopt_callback = { _, _, _ in
        Int32(CURL_SOCKOPT_ALREADY_CONNECTED)
    }

    /// The receiver that was passed to a callback; it outlives the transfer.
    private static func of(_ data: UnsafeMutableRawPointer?) -> Receiver? {
        guard let data = unsafe data else { return nil }
        return unsafe Unmanaged<Receiver>.fromOpaque(data).takeUnretainedValue()
    }
}
