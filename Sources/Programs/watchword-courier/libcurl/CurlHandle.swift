internal import CCurl
internal import Courier
internal import WatchwordSystem

/// Sends one request over an existing connection (libcurl).
///
/// The handle does not look up hosts, open connections or open files, so that it works in a
/// confined process; see ``ProcessConfinement/Confinement``. It does not follow redirects, ignores
/// proxy settings in the environment, and stores nothing (cookies, passwords, sessions).
@safe struct CurlHandle: ~Copyable {
    private let multi: UnsafeMutableRawPointer
    private let easy: UnsafeMutableRawPointer

    /// Loads the system files that libcurl and its TLS library need; must be called before
    /// confinement.
    init() throws(HTTPHelperFailure) {
        let started = curl_global_init(curl_global_everything)
        guard started == CURLE_OK else { throw HTTPHelperFailure(started, verification: 0) }
        guard let multi = unsafe curl_multi_init() else { throw .outOfMemory }
        guard let easy = unsafe curl_easy_init() else {
            unsafe curl_multi_cleanup(multi)
            throw .outOfMemory
        }
        unsafe self.multi = multi
        unsafe self.easy = easy
    }

    deinit {
        unsafe curl_multi_remove_handle(multi, easy)
        unsafe curl_easy_cleanup(easy)
        unsafe curl_multi_cleanup(multi)
    }

    /// Sends `request` over `connection`, which must be connected to the request's host, and waits
    /// for the response.
    ///
    /// `connection` stays open, but cannot be used for a second request.
    ///
    /// - Parameter authorities: the trusted certificates, in PEM.
    consuming func send(
        _ request: CurlRequest, over connection: borrowing FileDescriptor, authorities: [UInt8],
        limits: HTTPLimits
    ) throws(HTTPHelperFailure) -> CurlResponse {
        let receiver = Receiver(socket: connection.number, limits: limits)
        let lines = HeaderLines()
        for header in request.headers { try lines.append("\(header.name): \(header.value)") }
        // Send the body at once, without waiting for "100 Continue".
        try lines.append("Expect:")
        let places = HeaderLines()
        // libcurl does not look up a host for which it has an address. The address is never used;
        // see `Receiver.provideSocket`.
        try places.append("\(request.server.bracketedHost):\(request.server.port):127.0.0.1")
        // libcurl keeps pointers to all three.
        defer { withExtendedLifetime((receiver, lines, places)) {} }
        try setRules(limits)
        try setReceiver(receiver)
        try check(unsafe curl_set_list(easy, CURLOPT_HTTPHEADER, lines.list))
        try check(unsafe curl_set_list(easy, CURLOPT_RESOLVE, places.list))
        try check(unsafe curl_set_text(easy, CURLOPT_PROTOCOLS_STR, request.server.scheme.rawValue))
        try check(unsafe curl_set_text(easy, CURLOPT_URL, request.address))
        if let body = request.body { try setBody(body) }
        try check(unsafe curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method))
        try unsafe authorities.span.withUnsafeBytes { bytes throws(HTTPHelperFailure) in
            var blob = unsafe curl_blob(
                data: UnsafeMutableRawPointer(mutating: bytes.baseAddress), len: bytes.count,
                flags: UInt32(CURL_BLOB_COPY))
            try check(unsafe curl_set_blob(easy, CURLOPT_CAINFO_BLOB, &blob))
        }
        try perform()
        return try receiver.response(status: number(of: CURLINFO_RESPONSE_CODE), of: self)
    }
}

extension CurlHandle {
    private func setRules(_ limits: HTTPLimits) throws(HTTPHelperFailure) {
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_HTTPGET, 1), (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            // HTTP/1.1 has libcurl's oldest and best-tested parser, and is enough for one request.
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            (CURLOPT_HTTP09_ALLOWED, 0),
            (CURLOPT_TIMEOUT_MS, Int(limits.timeout.millisecondsRoundedUp)),
            (CURLOPT_SSL_SESSIONID_CACHE, 0), (CURLOPT_FORBID_REUSE, 1),
            // A subject may be named “..”.
            (CURLOPT_PATH_AS_IS, 1),
        ]
        for (option, value) in numbers {
            try check(unsafe curl_set_number(easy, option, value))
        }
        try check(unsafe curl_set_text(easy, CURLOPT_PROXY, ""))
        // Disable the system's default authorities: only the given ones are trusted.
        try check(unsafe curl_set_text(easy, CURLOPT_CAINFO, nil))
        try check(unsafe curl_set_text(easy, CURLOPT_CAPATH, nil))
    }

    private func setBody(_ body: [UInt8]) throws(HTTPHelperFailure) {
        try check(unsafe curl_set_number(easy, CURLOPT_POST, 1))
        try check(
            unsafe curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
        // Without an address, libcurl would read the body from standard input.
        guard !body.isEmpty else {
            return try check(unsafe curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, ""))
        }
        try unsafe body.span.withUnsafeBytes { bytes throws(HTTPHelperFailure) in
            // libcurl copies the body, so it cannot move while it is being sent.
            try check(
                unsafe curl_set_pointer(
                    easy, CURLOPT_COPYPOSTFIELDS,
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress)))
        }
    }

    private func setReceiver(_ receiver: Receiver) throws(HTTPHelperFailure) {
        let pointer = unsafe Unmanaged.passUnretained(receiver).toOpaque()
        try check(unsafe curl_set_pointer(easy, CURLOPT_WRITEDATA, pointer))
        try check(unsafe curl_set_receiver(easy, CURLOPT_WRITEFUNCTION, Receiver.takeBody))
        try check(unsafe curl_set_pointer(easy, CURLOPT_HEADERDATA, pointer))
        try check(unsafe curl_set_receiver(easy, CURLOPT_HEADERFUNCTION, Receiver.takeHeader))
        try check(unsafe curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, pointer))
        try check(unsafe curl_set_opener(easy, Receiver.provideSocket))
        try check(unsafe curl_set_no_closer(easy))
        try check(unsafe curl_set_preparer(easy, Receiver.reportConnected))
    }

    private func perform() throws(HTTPHelperFailure) {
        guard unsafe curl_multi_add_handle(multi, easy) == CURLM_OK else { throw .outOfMemory }
        var running: Int32 = 1
        while running > 0 {
            var result = unsafe curl_multi_perform(multi, &running)
            if result == CURLM_OK, running > 0 {
                result = unsafe curl_multi_poll(multi, nil, 0, 1000, nil)
            }
            guard result == CURLM_OK else { throw .library(code: result.rawValue) }
        }
        var waiting: Int32 = 0
        guard let message = unsafe curl_multi_info_read(multi, &waiting) else {
            throw .library(code: 0)
        }
        let result = unsafe curl_message_result(message)
        guard result == CURLE_OK else {
            throw HTTPHelperFailure(result, verification: try number(of: CURLINFO_SSL_VERIFYRESULT))
        }
    }

    private func check(_ code: CURLcode) throws(HTTPHelperFailure) {
        guard code == CURLE_OK else { throw HTTPHelperFailure(code, verification: 0) }
    }

    private func number(of info: CURLINFO) throws(HTTPHelperFailure) -> Int {
        var value = 0
        try check(unsafe curl_get_number(easy, info, &value))
        return value
    }

    func retryAfter() throws(HTTPHelperFailure) -> Int {
        var value: curl_off_t = 0
        try check(unsafe curl_get_size(easy, CURLINFO_RETRY_AFTER, &value))
        return Int(value)
    }

    func contentType() throws(HTTPHelperFailure) -> String? {
        var value: UnsafePointer<CChar>?
        try check(unsafe curl_get_text(easy, CURLINFO_CONTENT_TYPE, &value))
        guard let text = unsafe value else { return nil }
        return unsafe String(cString: text)
    }
}

/// A list of header lines in libcurl's format, freed on deinitialisation.
@safe final class HeaderLines {
    private(set) var list: UnsafeMutablePointer<curl_slist>?

    func append(_ line: String) throws(HTTPHelperFailure) {
        guard let longer = unsafe curl_slist_append(list, line) else { throw .outOfMemory }
        unsafe list = longer
    }

    deinit { unsafe curl_slist_free_all(list) }
}

/// One request to one server.
///
/// The strings must be valid in a URL or in a header field, respectively; this type does not check
/// them.
struct CurlRequest {
    let method: String
    /// The server; with plain HTTP, the caller must ensure that nobody can intercept the
    /// connection.
    let server: ServerAddress
    /// The path after the address, including the leading slash.
    let path: String
    let headers: [(name: String, value: String)]
    /// The body in JSON; `nil` if there is none.
    let body: [UInt8]?

    var address: String {
        let origin = "\(server.scheme.rawValue)://\(server.bracketedHost):\(server.port)"
        return origin + server.prefix + path
    }
}

/// A response to a request.
struct CurlResponse {
    let status: Int
    /// The media type with its parameters, if the server sent one.
    let contentType: String?
    /// The number of seconds before a retry, as requested by the server; 0 if unspecified.
    let retryAfter: Int
    let body: [UInt8]
}

/// Limits for a response.
struct HTTPLimits {
    /// The time limit for the whole exchange, from the first byte sent to the last one received.
    let timeout: Duration
    /// The maximum length of all header lines in bytes.
    let headerBytes: Int
    /// The maximum length of the body in bytes.
    let bodyBytes: Int
}

extension HTTPHelperFailure {
    /// libcurl has no memory left.
    fileprivate static let outOfMemory = HTTPHelperFailure.library(code: 0)

    /// Converts libcurl's code; `verification` is OpenSSL's verification result.
    fileprivate init(_ code: CURLcode, verification: Int) {
        self =
            switch code {
            case CURLE_PEER_FAILED_VERIFICATION: .certificate(CertificateFault(verification))
            // No common version or cipher, or no TLS at all.
            case CURLE_SSL_CONNECT_ERROR: .handshake
            case CURLE_SSL_CACERT_BADFILE: .authorities
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
                .connectionLost
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
                .badResponse
            // Our receivers abort a transfer that exceeds a limit.
            case CURLE_WRITE_ERROR: .tooLarge
            case CURLE_OUT_OF_MEMORY: .outOfMemory
            default: .library(code: Int32(bitPattern: code.rawValue))
            }
    }
}

extension HTTPHelperFailure.CertificateFault {
    /// Converts OpenSSL's result (`X509_V_ERR_…`).
    ///
    /// 0 means that the chain is valid, so the name is wrong. 1 is libcurl's initial value, which
    /// remains if the name is wrong and libcurl has not asked for the chain's result.
    fileprivate init(_ verification: Int) {
        self =
            switch verification {
            case 0, 1, 62: .otherHost
            case 2, 18, 19, 20, 21: .unknownAuthority
            case 9: .notYetValid
            case 10: .expired
            default: .other
            }
    }
}
