/// Where the parts of a request's head lie in memory, and what they are.
///
/// libmicrohttpd 0.9.75 takes heads that a proxy in front may understand otherwise: lines that end with a
/// bare LF, values that go on in the next line, values that hold a NUL. It hands out parts of its
/// reading buffer and the head's size; so a head of the plain form, and no other, has every part exactly
/// where the one before it ends. Nothing is read here: places are compared.
struct RequestHead {
    /// A part's first byte, as an address, and its bytes.
    struct Part {
        let start: UInt
        let bytes: [UInt8]
        var end: UInt { start + UInt(bytes.count) }
    }

    let method: Part
    /// The whole target; the part's bytes are a copy made before it was taken apart.
    let target: Part
    let version: Part
    let fields: [(name: Part, value: Part)]
    /// From the method to the end of the empty line.
    let size: Int

    /// Whether the head is `METHOD SP TARGET SP VERSION CRLF (NAME ":" OWS VALUE CRLF)* CRLF`, byte by byte.
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
