/// The chunks of an animated WebP file (WebP container specification, “Extended file format”).
///
/// libwebp's own decoder supports only still pictures. It accepts the content of a frame's chunk
/// unchanged, so only the frames have to be found here.
struct WebPContainer {
    /// The file ranges that contain the picture chunks of each frame.
    let frames: [Range<Int>]

    /// - Parameter bytes: a file whose header libwebp has already read.
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
            // Chunks are aligned to even offsets.
            index = start + size + size % 2
        }
        frames = found
    }
}
