internal import Pictures
import QRDrawing

/// A GIF file, still or animated.
///
/// Each frame is drawn over the previous ones, because the frames of an animation often contain
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

    /// Draws the frames up to this one.
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

    /// Removes the last frame if its control says so.
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
