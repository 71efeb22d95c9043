import Exports
import OneTimePassword
import Pictures
import QRDrawing
import WatchwordCryptography
import WatchwordSystem

/// Reads the pictures of a camera until one has a QR code with a key.
enum CameraPictures {
    /// How long to wait for a QR code.
    static let timeout = Duration.seconds(60)

    /// The texts of the first picture with an otpauth URI; `nil` if none is seen in time.
    static func firstSymbols(from camera: Camera) throws -> [SecretBytes]? {
        let reader = try CommandFailure.naming("watchword-reader") { try ReaderPool() }
        let end = Moment.now + timeout
        while Moment.now < end {
            guard let file = try nextFile(from: camera) else { continue }
            let symbols = try symbols(in: file, reader)
            let hasKey = symbols.contains { symbol in
                symbol.withBytes { KeyURI.isKeyURI($0) || MigrationBatch.isMigrationURI($0) }
            }
            if hasKey { return symbols }
        }
        return nil
    }

    private static func nextFile(from camera: Camera) throws -> SecretBytes? {
        var file: SecretBytes?
        try camera.next(timeout: .seconds(1)) { picture, bytes in
            file = CameraPictures.file(of: picture, bytes)
        }
        return file
    }

    private static func symbols(
        in file: SecretBytes, _ reader: ReaderPool
    ) throws -> [SecretBytes] {
        var symbols: [SecretBytes] = []
        // If a picture cannot be read, a later one may be.
        _ = try CommandFailure.naming("watchword-reader") {
            try reader.read(byteCount: file.count, lend: { file.withBytes($0) }) {
                symbols.append(SecretBytes(copying: $0))
            }
        }
        return symbols
    }

    /// An image file for the reader: what the camera sent, or the brightness as a PNG.
    static func file(of picture: Camera.Picture, _ bytes: Span<UInt8>) -> SecretBytes? {
        switch picture {
        case .jpeg: return SecretBytes(copying: bytes)
        case .yuyv(let width, let height, let line):
            let image = GrayImage(yuyv: bytes, width: width, height: height, line: line)
            guard let image else { return nil }
            // Borrowing the span of the call's result crashes the compiler (Swift 6.3).
            let png: [UInt8]
            do { png = try writePNG(image) } catch { return nil }
            return SecretBytes(copying: png.span)
        }
    }
}

extension GrayImage {
    /// The brightness of a picture with two bytes per pixel, of which the first is the brightness
    /// (YUYV); `nil` if there are too few bytes.
    init?(yuyv bytes: Span<UInt8>, width: Int, height: Int, line: Int) {
        guard width > 0, height > 0, line >= width * 2,
            bytes.count >= line * (height - 1) + width * 2
        else { return nil }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            for column in 0..<width { pixels.append(bytes[row * line + column * 2]) }
        }
        self.init(width: width, height: height, pixels: pixels)
    }
}
