/// How large a picture may be before it is refused unread.
///
/// All limits are compared with what the header says, before memory is taken for the picture.
public struct ImageLimits: Hashable, Sendable {
    /// Bytes of the file.
    public let bytes: Int
    /// Pixels of the picture.
    public let pixels: Int
    /// Pixels of the longer side.
    public let side: Int
    /// Frames of an animation.
    public let frames: Int

    /// What every picture is held to: 32 MiB, 64 megapixels, 20,000 pixels a side, 20 frames.
    public static let standard = ImageLimits(
        bytes: 32 << 20, pixels: 64 << 20, side: 20_000, frames: 20)

    /// Takes the limits as they are.
    public init(bytes: Int, pixels: Int, side: Int, frames: Int) {
        self.bytes = bytes
        self.pixels = pixels
        self.side = side
        self.frames = frames
    }

    func check(byteCount: Int) throws(ImageFileError) {
        guard byteCount <= bytes else {
            throw .tooLarge(.bytes, found: byteCount, allowed: bytes)
        }
    }

    /// - Parameter width: A side as the header has it: it may be anything from 0 to 2^32.
    func check(width: Int, height: Int, of format: ImageFormat) throws(ImageFileError) {
        guard width > 0, height > 0 else { throw .damaged(format) }
        let longer = max(width, height)
        guard longer <= side else { throw .tooLarge(.side, found: longer, allowed: side) }
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, area <= pixels else {
            throw .tooLarge(.pixels, found: overflow ? .max : area, allowed: pixels)
        }
    }

    func check(frameCount: Int) throws(ImageFileError) {
        guard frameCount <= frames else {
            throw .tooLarge(.frames, found: frameCount, allowed: frames)
        }
    }
}
