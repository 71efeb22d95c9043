public import Raster

/// The bytes of a picture file whose header was read and found within the limits.
///
/// Decoding is asked for separately, in the size and kind that is needed.
public struct EncodedImage: Sendable {
    /// The kind of file, told by its content.
    public let format: ImageFormat
    /// Pixels in a row, as the header says.
    public let width: Int
    /// Rows, as the header says.
    public let height: Int
    /// Frames: 1, but for an animation.
    public let frameCount: Int

    private let file: ImageDecoder

    /// Reads the header of `bytes`.
    ///
    /// - Throws: ``ImageFileError``; nothing was allocated for pixels by then.
    public init(_ bytes: [UInt8], limits: ImageLimits = .standard) throws(ImageFileError) {
        try limits.check(byteCount: bytes.count)
        let file: ImageDecoder
        switch ImageKind(of: bytes) {
        case .readable(.png):
            file = .png(try PNGFile(bytes, limits: limits))
            format = .png
        case .readable(.jpeg):
            file = .jpeg(try JPEGFile(bytes, limits: limits))
            format = .jpeg
        case .readable(.webp):
            file = .webp(try WebPFile(bytes, limits: limits))
            format = .webp
        case .unsupported(let known):
            throw .unsupported(known)
        case .unknown:
            throw .notAPicture
        }
        self.file = file
        width = file.width
        height = file.height
        frameCount = file.frameCount
    }

    /// Decodes the brightness of a frame.
    ///
    /// - Parameters:
    ///   - index: 0 up to ``frameCount``.
    ///   - longerSide: The result may be smaller than the picture, where that is cheaper, but
    ///     its longer side is never below this number unless the picture's is.
    /// - Throws: ``ImageFileError/damaged(_:)`` when not one pixel can be had.
    public func frame(
        _ index: Int = 0, longerSide: Int = .max
    ) throws(ImageFileError) -> ImageFrame {
        precondition((0..<frameCount).contains(index), "there is no such frame")
        return try file.frame(index, longerSide: longerSide)
    }

    /// Decodes the colours of a frame, transparent parts laid over white; `nil` for a gray picture.
    ///
    /// - Parameters:
    ///   - index: 0 up to ``frameCount``.
    ///   - longerSide: As in ``frame(_:longerSide:)``.
    /// - Throws: ``ImageFileError/damaged(_:)`` when not one pixel can be had.
    public func colours(
        _ index: Int = 0, longerSide: Int = .max
    ) throws(ImageFileError) -> ColourImage? {
        precondition((0..<frameCount).contains(index), "there is no such frame")
        return try file.colours(index, longerSide: longerSide)
    }
}
