/// The chunks of an animated WebP file (WebP container specification, “Extended file format”).
///
/// libwebp's own decoder stops at still pictures. It takes the inside of a frame's chunk as it is,
/// so that finding the frames is all that is left to do.
struct WebPContainer {
    /// Where the chunks of each frame's picture lie in the file.
    let frames: [Range<Int>]

    /// - Parameter bytes: A file of which libwebp has read the header.
    init(_ bytes: [UInt8]) {
        let frameHeader = 16
        let wanted = Array("ANMF".utf8)
        var found: [Range<Int>] = []
        var index = 12
        while index + 8 <= bytes.count {
            let size = (0..<4).reduce(0) { $0 | Int(bytes[index + 4 + $1]) << ($1 * 8) }
            let start = index + 8
            let end = min(start + size, bytes.count)
            if bytes[index...].starts(with: wanted), start + frameHeader < end {
                found.append(start + frameHeader..<end)
            }
            // Chunks lie on even places.
            index = start + size + size % 2
        }
        frames = found
    }
}
