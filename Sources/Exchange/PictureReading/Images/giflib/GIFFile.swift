import CGIF
internal import Pictures
import QRDrawing
internal import WatchwordSystem

/// A GIF file, still or animated.
///
/// Each frame is drawn over the previous frames, because the frames of an animation often contain
/// only what changed.
struct GIFFile {
    let width: Int
    let height: Int
    let frameCount: Int
    private let bytes: [UInt8]
    private let library: GIFLibrary

    init(
        _ bytes: [UInt8], limits: ImageLimits, library: GIFLibrary
    ) throws(ImageFileError) {
        var decoder = try GIFDecoder(bytes, library: library)
        try limits.check(width: decoder.width, height: decoder.height, of: .gif)
        var count = 0
        while let area = decoder.nextFrame() {
            // A frame can be larger than the canvas.
            try limits.check(width: area.width, height: area.height, of: .gif)
            count += 1
            try limits.check(frameCount: count)
            guard decoder.skipPixels() else { break }
        }
        guard count > 0 else { throw .damaged(.gif) }
        width = decoder.width
        height = decoder.height
        frameCount = count
        self.bytes = bytes
        self.library = library
    }

    /// Draws the frames up to this frame.
    func samples(_ index: Int) throws(ImageFileError) -> Samples {
        var decoder = try GIFDecoder(bytes, library: library)
        var canvas = GIFCanvas(width: width, height: height)
        var isWhole = true
        for _ in 0...index {
            guard isWhole, let area = decoder.nextFrame() else { throw .damaged(.gif) }
            canvas.dispose()
            isWhole = canvas.draw(area, from: decoder)
        }
        return Samples(
            width: width, height: height, channels: 4, bytes: canvas.pixels, isWhole: isWhole)
    }
}

/// The pixels of an animation while its frames are drawn.
private struct GIFCanvas {
    let width: Int
    let height: Int
    /// Red, green, blue and alpha; transparent at first.
    private(set) var pixels: [UInt8]
    private var lastArea: GIFDecoder.Area?
    private var lastDisposal = GIFDecoder.Control.Disposal.keep
    /// The pixels to restore.
    private var saved: [UInt8] = []

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        pixels = [UInt8](repeating: 0, count: width * height * 4)
    }

    /// Removes the last frame if its graphics control extension requires this.
    mutating func dispose() {
        switch lastDisposal {
        case .keep: break
        case .restore: swap(&pixels, &saved)
        case .clear:
            guard let area = lastArea else { break }
            for row in rows(of: area) {
                for index in bytes(of: area, in: row) { pixels[index] = 0 }
            }
        }
        saved = []
    }

    /// Draws the decoder's current frame; returns whether it was complete.
    mutating func draw(_ area: GIFDecoder.Area, from decoder: borrowing GIFDecoder) -> Bool {
        let control = decoder.control
        lastArea = area
        lastDisposal = control.disposal
        if control.disposal == .restore { saved = pixels }
        let colours = decoder.colours()
        var line = [UInt8](repeating: 0, count: area.width)
        for row in Self.lineOrder(of: area) {
            guard decoder.readLine(into: &line) else { return false }
            guard rows(of: area).contains(area.top + row) else { continue }
            let visible = bytes(of: area, in: area.top + row)
            for (column, start) in zip(
                line.indices,
                stride(
                    from: visible.lowerBound, to: visible.upperBound, by: 4))
            {
                let index = line[column]
                guard index != control.transparent, Int(index) < colours.count else { continue }
                let colour = colours[Int(index)]
                pixels[start] = colour.red
                pixels[start + 1] = colour.green
                pixels[start + 2] = colour.blue
                pixels[start + 3] = 255
            }
        }
        return true
    }

    /// The order in which the lines of a frame are stored (GIF89a, appendix E).
    private static func lineOrder(of area: GIFDecoder.Area) -> [Int] {
        guard area.isInterlaced else { return Array(0..<area.height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { start, step in
            Array(stride(from: start, to: area.height, by: step))
        }
    }

    /// The rows of the canvas that a frame covers.
    private func rows(of area: GIFDecoder.Area) -> Range<Int> {
        let top = min(area.top, height)
        return top..<min(area.top + area.height, height)
    }

    /// The positions of the bytes that a frame covers in a row of the canvas.
    private func bytes(of area: GIFDecoder.Area, in row: Int) -> Range<Int> {
        let left = min(area.left, width)
        let right = min(area.left + area.width, width)
        return (row * width + left) * 4..<(row * width + right) * 4
    }
}

/// Reads one GIF file from its beginning to its end, frame by frame.
@safe struct GIFDecoder: ~Copyable {
    /// The position and size of a frame on the canvas.
    struct Area {
        let left: Int
        let top: Int
        let width: Int
        let height: Int
        let isInterlaced: Bool
    }

    /// The contents of a graphics control extension, which apply to the next frame.
    struct Control {
        /// What happens to the frame's area before the following frame is drawn.
        enum Disposal { case keep, clear, restore }

        var disposal = Disposal.keep
        /// The index of the colour that leaves the canvas unchanged.
        var transparent: UInt8?
    }

    let width: Int
    let height: Int
    /// The control of the current frame.
    private(set) var control = Control()

    private let library: GIFLibrary
    private let source: MemoryFile
    private let file: GIFLibrary.File

    init(_ bytes: [UInt8], library: GIFLibrary) throws(ImageFileError) {
        self.library = library
        source = MemoryFile(bytes)
        var code: Int32 = 0
        let opened = unsafe library.open(
            source.handle,
            { file, target, count in
                guard let file = unsafe file, count > 0 else { return 0 }
                let source = unsafe MemoryFile.with(file.pointee.UserData)
                return unsafe Int32(source?.read(into: target, count: Int(count)) ?? 0)
            }, &code)
        guard let opened = unsafe opened else {
            throw code == D_GIF_ERR_NOT_ENOUGH_MEM ? .outOfMemory : .damaged(.gif)
        }
        unsafe file = opened
        width = unsafe Int(opened.pointee.SWidth)
        height = unsafe Int(opened.pointee.SHeight)
    }

    deinit { _ = unsafe library.close(file, nil) }

    /// Moves to the next frame; `nil` at the end of the file, or where it is damaged.
    mutating func nextFrame() -> Area? {
        control = Control()
        while true {
            var kind = UNDEFINED_RECORD_TYPE
            guard unsafe library.nextRecord(file, &kind) == GIF_OK else { return nil }
            switch kind {
            case IMAGE_DESC_RECORD_TYPE:
                guard unsafe library.imageHeader(file) == GIF_OK else { return nil }
                let image = unsafe file.pointee.Image
                return unsafe Area(
                    left: Int(image.Left), top: Int(image.Top), width: Int(image.Width),
                    height: Int(image.Height), isInterlaced: image.Interlace)
            case EXTENSION_RECORD_TYPE:
                guard readExtension() else { return nil }
            default: return nil
            }
        }
    }

    /// Skips the current frame's pixels; returns false if they are damaged.
    func skipPixels() -> Bool {
        var size: Int32 = 0
        var block: GIFLibrary.Block = nil
        guard unsafe library.imageData(file, &size, &block) == GIF_OK else { return false }
        while unsafe block != nil {
            guard unsafe library.nextImageData(file, &block) == GIF_OK else { return false }
        }
        return true
    }

    /// Decodes the next line of colour indices; returns false if it is damaged.
    func readLine(into line: inout [UInt8]) -> Bool {
        unsafe library.line(file, &line, Int32(line.count)) == GIF_OK
    }

    /// The red, green and blue values of the current frame's colours.
    func colours() -> [(red: UInt8, green: UInt8, blue: UInt8)] {
        guard let map = unsafe file.pointee.Image.ColorMap ?? file.pointee.SColorMap,
            let values = unsafe map.pointee.Colors
        else { return [] }
        let count = unsafe Int(map.pointee.ColorCount)
        return (0..<count).map { index in
            let value = unsafe values[index]
            return (value.Red, value.Green, value.Blue)
        }
    }

    private mutating func readExtension() -> Bool {
        var code: Int32 = 0
        var block: GIFLibrary.Block = nil
        guard unsafe library.extensionRecord(file, &code, &block) == GIF_OK else { return false }
        while let bytes = unsafe block {
            // The first byte is the number of bytes that follow it.
            if code == GRAPHICS_EXT_FUNC_CODE, unsafe bytes[0] == 4 {
                let flags = unsafe bytes[1]
                let disposals: [UInt8: Control.Disposal] = [2: .clear, 3: .restore]
                control.disposal = disposals[flags >> 2 & 7] ?? .keep
                control.transparent = flags & 1 == 1 ? unsafe bytes[4] : nil
            }
            guard unsafe library.nextExtensionBlock(file, &block) == GIF_OK else { return false }
        }
        return true
    }
}

/// The giflib functions that read a file record by record.
@safe struct GIFLibrary: Sendable {
    typealias File = UnsafeMutablePointer<GifFileType>
    typealias Open =
        @convention(c) (UnsafeMutableRawPointer?, InputFunc?, UnsafeMutablePointer<Int32>?) -> File?
    typealias Close = @convention(c) (File?, UnsafeMutablePointer<Int32>?) -> Int32
    typealias NextRecord =
        @convention(c) (File?, UnsafeMutablePointer<GifRecordType>?) -> Int32
    typealias ImageHeader = @convention(c) (File?) -> Int32
    typealias Line = @convention(c) (File?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32
    typealias Block = UnsafeMutablePointer<UInt8>?
    typealias FirstBlock =
        @convention(c) (File?, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Block>?) -> Int32
    typealias NextBlock = @convention(c) (File?, UnsafeMutablePointer<Block>?) -> Int32

    /// `DGifOpen`.
    let open: Open
    /// `DGifCloseFile`.
    let close: Close
    /// `DGifGetRecordType`.
    let nextRecord: NextRecord
    /// `DGifGetImageDesc`.
    let imageHeader: ImageHeader
    /// `DGifGetLine`.
    let line: Line
    /// `DGifGetCode`: the first block of an image's data.
    let imageData: FirstBlock
    /// `DGifGetCodeNext`.
    let nextImageData: NextBlock
    /// `DGifGetExtension`.
    let extensionRecord: FirstBlock
    /// `DGifGetExtensionNext`.
    let nextExtensionBlock: NextBlock

    init?() {
        guard let library = SharedLibrary("libgif.so.7"),
            let open = unsafe library.function("DGifOpen", as: Open.self),
            let close = unsafe library.function("DGifCloseFile", as: Close.self),
            let nextRecord = unsafe library.function("DGifGetRecordType", as: NextRecord.self),
            let imageHeader = unsafe library.function("DGifGetImageDesc", as: ImageHeader.self),
            let line = unsafe library.function("DGifGetLine", as: Line.self),
            let imageData = unsafe library.function("DGifGetCode", as: FirstBlock.self),
            let nextImageData = unsafe library.function("DGifGetCodeNext", as: NextBlock.self),
            let extensionRecord = unsafe library.function("DGifGetExtension", as: FirstBlock.self),
            let nextExtensionBlock = unsafe library.function(
                "DGifGetExtensionNext", as: NextBlock.self)
        else { return nil }
        unsafe self.open = open
        unsafe self.close = close
        unsafe self.nextRecord = nextRecord
        unsafe self.imageHeader = imageHeader
        unsafe self.line = line
        unsafe self.imageData = imageData
        unsafe self.nextImageData = nextImageData
        unsafe self.extensionRecord = extensionRecord
        unsafe self.nextExtensionBlock = nextExtensionBlock
    }
}
