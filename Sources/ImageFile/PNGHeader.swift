/// The first chunk of a PNG file, which contains the picture's size (PNG specification, 11.2.2).
///
/// It is parsed here, so that an oversized picture is refused before libpng sees any of it.
struct PNGHeader {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    let width: Int
    let height: Int

    init(_ bytes: [UInt8]) throws(ImageFileError) {
        let start: [UInt8] = Self.signature + [0, 0, 0, 13] + Array("IHDR".utf8)
        guard bytes.count >= start.count + 8, bytes.starts(with: start) else {
            throw .damaged(.png)
        }
        width = Self.number(bytes, at: start.count)
        height = Self.number(bytes, at: start.count + 4)
    }

    private static func number(_ bytes: [UInt8], at index: Int) -> Int {
        bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
