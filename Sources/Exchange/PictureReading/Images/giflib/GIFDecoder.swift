import CGIF
internal import Pictures

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

    /// What a graphics control extension says about the next frame.
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
