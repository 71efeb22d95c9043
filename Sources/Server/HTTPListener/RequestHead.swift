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
