internal import CMicroHTTPD
internal import Glibc

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

extension Exchange {
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
