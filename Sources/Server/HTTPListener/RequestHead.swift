internal import CMicroHTTPD
internal import Glibc
internal import WatchwordCoding
internal import WatchwordCryptography

/// The memory addresses of the parts of a request's head, and their content.
///
/// libmicrohttpd 0.9.75 accepts heads that a proxy could interpret differently: lines that end with
/// a bare LF, values that continue on the next line, values that contain NUL. It returns the parts
/// as addresses in its receive buffer, and the head's size. ``isPlain`` compares the addresses to
/// detect such heads, so the head does not have to be parsed again.
struct RequestHead {
    /// The address of a part's first byte, and its bytes.
    struct Part {
        let start: UInt
        let bytes: [UInt8]
        var end: UInt { start + UInt(bytes.count) }
    }

    let method: Part
    /// The whole target; the part's bytes are a copy made before libmicrohttpd split it.
    let target: Part
    let version: Part
    let fields: [(name: Part, value: Part)]
    /// The size from the method to the end of the empty line.
    let size: Int

    /// Whether the head is `METHOD SP TARGET SP VERSION CRLF (NAME ":" OWS VALUE CRLF)* CRLF`, byte
    /// by byte.
    var isPlain: Bool {
        guard target.start == method.end + 1, version.start == target.end + 1 else { return false }
        var end = version.end
        for (name, value) in fields {
            guard name.start == end + 2, value.start >= name.end + 1 else { return false }
            end = value.end
        }
        return end + 4 == method.start + UInt(size)
    }
}

extension ConnectionExchange {
    /// The target, while nothing else is known; `nil` after the head has been examined.
    var targetOfNewRequest: [UInt8]? {
        withStage { stage in
            if case .begun(let target) = stage { target } else { nil }
        }
    }
}

extension RequestHead.Part {
    /// A part in libmicrohttpd's buffer.
    fileprivate init?(_ start: UnsafePointer<CChar>?, count: Int? = nil) {
        guard let start = unsafe start else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count ?? strlen(start))
        self.init(start: UInt(bitPattern: start), bytes: unsafe Array(bytes))
    }
}

extension RequestHead {
    /// Collects the parts of the head that `connection` has just received.
    init?(
        method: UnsafePointer<CChar>?, target: (UnsafePointer<CChar>?, [UInt8]),
        version: UnsafePointer<CChar>?, connection: OpaquePointer
    ) {
        guard let method = unsafe Part(method), let version = unsafe Part(version),
            let place = unsafe target.0
        else { return nil }
        var fields = FieldCollection()
        let count = unsafe withUnsafeMutablePointer(to: &fields) { fields in
            unsafe MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { context, _, name, nameSize, value, valueSize in
                    let fields = unsafe context?.assumingMemoryBound(to: FieldCollection.self)
                    guard let name = unsafe Part(name, count: nameSize),
                        let value = unsafe Part(value, count: valueSize)
                    else { return .NO }
                    unsafe fields?.pointee.all.append((name, value))
                    return .YES
                }, fields)
        }
        guard Int(count) == fields.all.count else { return nil }
        unsafe self.init(
            method: method,
            target: Part(start: UInt(bitPattern: place), bytes: target.1),
            version: version, fields: fields.all,
            size: unsafe mhd_request_header_size(connection))
    }
}

private struct FieldCollection {
    var all: [(name: RequestHead.Part, value: RequestHead.Part)] = []
}

/// The content of a valid head.
struct ValidatedHead: Sendable {
    let method: String
    let target: String
    let headers: [HTTPField]
    /// A secret; libmicrohttpd's own buffer also contains it until the connection's next request.
    let authorization: SecretBytes?
    /// The length of the body; `nil` if it is chunked, which is refused.
    let contentLength: Int?
    let expectsContinue: Bool
}

extension RequestHead {
    // Repeating one of these fields may be an attack on a recipient that reads the other value.
    private static let single: Set<String> = [
        "content-length", "content-type", "content-encoding", "expect", "host",
        "idempotency-key", "if-match", "if-none-match", "origin", "transfer-encoding",
        "user-agent",
    ]

    /// Validates the head by the rules of RFC 9110 and RFC 9112.
    func understood(within limits: ListenerLimits) throws(HTTPRequestError) -> ValidatedHead {
        guard size <= limits.headers else { throw .headersTooLarge }
        guard isPlain else { throw .malformed }
        let isOld = version.bytes.elementsEqual("HTTP/1.0".utf8)
        guard isOld || version.bytes.elementsEqual("HTTP/1.1".utf8) else { throw .malformed }
        let (headers, authorization) = try joined()
        func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
        // RFC 9112, section 3.2: a request without a host is invalid.
        guard isOld || value("host") != nil else { throw .malformed }
        if let host = value("host"), host.utf8.contains(where: \.isOutsideHost) {
            throw .malformed
        }
        let length = try contentLength(value("content-length"), coding: value("transfer-encoding"))
        // RFC 9112, section 6.1: HTTP/1.0 has no transfer codings, so a chunked body indicates
        // request smuggling.
        guard length != nil || !isOld else { throw .malformed }
        if let expectation = value("expect"), expectation.lowercased() != "100-continue" {
            throw .unknownExpectation
        }
        return ValidatedHead(
            method: try text(method, where: \.isTokenByte), target: try originForm(),
            headers: headers, authorization: authorization, contentLength: length,
            expectsContinue: value("expect") != nil)
    }

    private func text(_ part: Part, where isAllowed: (UInt8) -> Bool) throws(HTTPRequestError)
        -> String
    {
        guard !part.bytes.isEmpty, part.bytes.allSatisfy(isAllowed) else { throw .malformed }
        return String(decoding: part.bytes, as: UTF8.self)
    }

    private func joined() throws(HTTPRequestError) -> ([HTTPField], SecretBytes?) {
        var headers: [HTTPField] = []
        headers.reserveCapacity(fields.count)
        var authorization: SecretBytes?
        for (name, value) in fields {
            guard !name.bytes.isEmpty, name.bytes.allSatisfy(\.isTokenByte) else {
                throw .malformed
            }
            let name = String(decoding: name.bytes.map(\.lowercased), as: UTF8.self)
            guard value.bytes.allSatisfy(\.isValueByte) else { throw .malformed }
            // White space around a value is not part of it.
            let first = value.bytes.firstIndex { !$0.isBlank } ?? value.bytes.endIndex
            let last = value.bytes.lastIndex { !$0.isBlank } ?? first
            let trimmed = value.bytes[first..<min(last + 1, value.bytes.endIndex)]
            if name == "authorization" {
                guard authorization == nil else { throw .malformed }
                authorization = SecretBytes(copying: trimmed.span)
                continue
            }
            guard let text = String(validating: trimmed, as: UTF8.self) else { throw .malformed }
            guard let place = headers.firstIndex(where: { $0.name == name }) else {
                headers.append(HTTPField(name, text))
                continue
            }
            guard !RequestHead.single.contains(name) else { throw .malformed }
            headers[place] = HTTPField(name, headers[place].value + ", " + text)
        }
        return (headers, authorization)
    }

    /// The length of the body (RFC 9112, section 6.3).
    ///
    /// Contradictory lengths are refused.
    private func contentLength(_ length: String?, coding: String?) throws(HTTPRequestError) -> Int?
    {
        if let coding {
            guard length == nil else { throw .malformed }
            guard coding.lowercased() == "chunked" else { throw .unknownTransferCoding }
            // libmicrohttpd treats “chunked” with trailing white space as a body without an end.
            guard isChunkedToLibrary else { throw .lengthRequired }
            return nil
        }
        guard let length else { return 0 }
        guard (1...18).contains(length.utf8.count),
            length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(length)
        else { throw .malformed }
        return number
    }

    private var isChunkedToLibrary: Bool {
        fields.contains { name, value in
            name.bytes.map(\.lowercased) == Array("transfer-encoding".utf8)
                && value.bytes.map(\.lowercased) == Array("chunked".utf8)
        }
    }

    private func originForm() throws(HTTPRequestError) -> String {
        var text = try text(target) { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }
        if text.utf8.first == UInt8(ascii: "/") { return text }
        // RFC 9112, section 3.2.2: the absolute form, which is meant for proxies, is also accepted.
        for scheme in ["http://", "https://"] where text.lowercased().hasPrefix(scheme) {
            let rest = text.dropFirst(scheme.count)
            let path = rest[(rest.firstIndex { "/?".contains($0) } ?? rest.endIndex)...]
            text = path.hasPrefix("/") ? String(path) : "/" + path
        }
        guard text.utf8.first == UInt8(ascii: "/") || text == "*" else { throw .malformed }
        return text
    }
}

extension UInt8 {
    /// Whether this byte is allowed in a token (RFC 9110, section 5.6.2).
    fileprivate var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// The lowercase form of a letter.
    fileprivate var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    /// Whether a `Host` field that contains this byte is refused: it delimits a host (RFC 3986,
    /// section 3.2) or separates several.
    fileprivate var isOutsideHost: Bool {
        switch self {
        case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "/"), UInt8(ascii: "?"),
            UInt8(ascii: "#"), UInt8(ascii: "@"):
            true
        default: false
        }
    }

    /// Whether this byte is allowed in a field value (RFC 9110, section 5.5).
    fileprivate var isValueByte: Bool { self >= 0x20 && self != 0x7f || self == 0x09 }

    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }
}
