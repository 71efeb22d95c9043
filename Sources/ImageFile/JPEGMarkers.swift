/// The marker segments before a JPEG file's first scan (ITU-T T.81, annex B).
struct JPEGMarkers {
    /// Whether Adobe software wrote the file (marker APP14), which stores inks inverted.
    let isFromAdobe: Bool

    init(_ bytes: [UInt8]) {
        let name = Array("Adobe".utf8)
        var index = 2
        while index + 4 <= bytes.count, bytes[index] == 0xFF {
            let marker = bytes[index + 1]
            if marker == 0xFF {  // Fill byte.
                index += 1
                continue
            }
            let length = Int(bytes[index + 2]) << 8 | Int(bytes[index + 3])
            let isScan = marker == 0xDA
            if isScan || length < 2 { break }
            if marker == 0xEE, bytes[(index + 4)...].starts(with: name) {
                isFromAdobe = true
                return
            }
            index += 2 + length
        }
        isFromAdobe = false
    }
}
