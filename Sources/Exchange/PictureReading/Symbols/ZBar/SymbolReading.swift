import CZBar
internal import Glibc
public import Pictures
public import QRDrawing
public import WatchwordSystem

/// Reads every QR symbol in an image.
///
/// - Parameters:
///   - views: the image.
///   - deadline: when to stop, in processor time of this process. The current stage is finished,
///     and no other is started. `nil` means no deadline.
/// - Throws: ``ImageFileError/outOfMemory`` if zbar itself fails; an image without a symbol is not
///   an error.
public func readSymbols(
    in views: PictureViews, until deadline: ProcessorTime? = nil
) throws(ImageFileError) -> SymbolReadingOutcome {
    var stages = try ReadingStages(deadline: deadline)
    try stages.climb(views)
    return SymbolReadingOutcome(
        symbols: stages.texts, tried: stages.tried, ranOutOfTime: stages.ranOutOfTime)
}

/// The result of reading an image: the texts of its symbols, and the stages that were tried.
public struct SymbolReadingOutcome: Hashable, Sendable {
    /// The bytes of each symbol, each text once, in the order in which they were found.
    ///
    /// They can be keys. They are kept in ordinary memory, because they are read in a confined
    /// process that does nothing else and ends soon after.
    public let symbols: [[UInt8]]
    /// The names of the stages that were tried, in order, for diagnostics.
    public let tried: [String]
    /// Whether stages were left out because the deadline had passed.
    public let ranOutOfTime: Bool
}

/// Loads the character converters that zbar would otherwise load from the file system when it reads
/// its first symbol.
///
/// A process calls this before it gives up access to the file system. The C library keeps a
/// converter loaded as long as a descriptor for it is open, so these descriptors are never closed.
public func prepareSymbolReading() {
    for name in converterNames {
        // If the system lacks a converter, it will not appear later either; zbar works without it.
        _ = unsafe iconv_open("UTF-8", name)
    }
}

/// The character sets that zbar uses (qrdectxt.c): the sets that it guesses, and the sets that a
/// symbol can declare (ECI 0 to 18, 20, 26).
private let converterNames =
    ["UTF-8", "SJIS", "BIG5", "CP437"] + (1...16).map { "ISO8859-\($0)" }

/// Owns a zbar scanner for QR symbols.
///
/// Other symbologies are disabled: they are slow, and zbar's buffer overflows were in them.
@safe struct SymbolScanner: ~Copyable {
    private let scanner: OpaquePointer
    private let image: OpaquePointer

    init() throws(ImageFileError) {
        guard let scanner = unsafe zbar_image_scanner_create() else {
            throw .outOfMemory
        }
        guard let image = unsafe zbar_image_create() else {
            unsafe zbar_image_scanner_destroy(scanner)
            throw .outOfMemory
        }
        // "Y800" is one byte of brightness per pixel. The macro that computes the number is not
        // imported.
        let format = "Y800".utf8.reversed().reduce(0) { $0 << 8 | UInt($1) }
        unsafe zbar_image_set_format(image, format)
        // Binary mode returns the symbol's bytes unchanged; otherwise zbar guesses an encoding and
        // converts.
        guard unsafe zbar_image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0) == 0,
            unsafe zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1) == 0,
            unsafe zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_BINARY, 1) == 0
        else {
            unsafe zbar_image_destroy(image)
            unsafe zbar_image_scanner_destroy(scanner)
            throw .outOfMemory
        }
        unsafe self.scanner = scanner
        unsafe self.image = image
    }

    deinit {
        unsafe zbar_image_destroy(image)
        unsafe zbar_image_scanner_destroy(scanner)
    }

    /// All symbols that zbar finds in `picture`.
    ///
    /// - Parameter lineStep: 1 to look for finder patterns in every row and column of pixels, 2 in
    ///   every second row and column.
    func scan(
        _ picture: GrayImage, lineStep: Int32 = 1
    ) throws(ImageFileError) -> [ScannedSymbol] {
        for density in [ZBAR_CFG_X_DENSITY, ZBAR_CFG_Y_DENSITY] {
            guard
                unsafe zbar_image_scanner_set_config(scanner, ZBAR_NONE, density, lineStep) == 0
            else { throw .outOfMemory }
        }
        unsafe zbar_image_set_size(image, UInt32(picture.width), UInt32(picture.height))
        let found: [ScannedSymbol]? = unsafe picture.pixels.withUnsafeBytes { pixels in
            // Without a handler, zbar neither copies nor frees the pixels; the pointer is removed
            // below.
            unsafe zbar_image_set_data(image, pixels.baseAddress, UInt(pixels.count), nil)
            defer { unsafe zbar_image_set_data(image, nil, 0, nil) }
            guard unsafe zbar_scan_image(scanner, image) >= 0 else { return nil }
            return symbols()
        }
        guard let found else { throw .outOfMemory }
        return found
    }

    /// Copies the results that the last scan stored in the image.
    private func symbols() -> [ScannedSymbol] {
        var found: [ScannedSymbol] = []
        var next = unsafe zbar_image_first_symbol(image)
        while let symbol = unsafe next {
            let start = unsafe UnsafeRawPointer(zbar_symbol_get_data(symbol))
            let count = unsafe Int(zbar_symbol_get_data_length(symbol))
            let payload = unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
            let corners = unsafe (0..<zbar_symbol_get_loc_size(symbol)).map { index in
                let x = unsafe zbar_symbol_get_loc_x(symbol, index)
                let y = unsafe zbar_symbol_get_loc_y(symbol, index)
                return Point(x: Double(x), y: Double(y))
            }
            found.append(ScannedSymbol(payload: payload, corners: corners))
            unsafe next = zbar_symbol_next(symbol)
        }
        return found
    }
}

/// A symbol as the scanner reports it.
struct ScannedSymbol {
    let payload: [UInt8]
    /// Its corners in the image, in order around it; fewer than four if zbar does not report
    /// them.
    let corners: [Point]
}

/// An image for the reader: its brightness, and other views that are computed when needed.
public struct PictureViews {
    /// The brightness, with transparent parts on white.
    let brightness: GrayImage
    /// The opacity of each pixel, unless all are opaque.
    let alpha: GrayImage?
    /// The colours, if the image has any.
    let colours: () -> ColourImage?
    /// The brightness at full size, if `brightness` is smaller.
    let fullSize: () -> GrayImage?

    /// Creates the views of an image.
    ///
    /// - Parameters:
    ///   - brightness: should have at least ``workingSide(width:height:)`` pixels on the longer
    ///     side.
    ///   - alpha: the opacity of each pixel of `brightness`; `nil` if all are opaque.
    ///   - colours: called at most once, if the brightness is not enough.
    ///   - fullSize: called at most once, as a last resort.
    public init(
        brightness: GrayImage, alpha: GrayImage? = nil,
        colours: @escaping () -> ColourImage? = { nil },
        fullSize: @escaping () -> GrayImage? = { nil }
    ) {
        self.brightness = brightness
        self.alpha = alpha
        self.colours = colours
        self.fullSize = fullSize
    }

    /// The length of the longer side at which an image of that size should be read.
    ///
    /// An image with sides of at most 2,400 pixels, or with at most five megapixels (a tall
    /// screenshot), is read at its own size. A larger image is a photo, which can be read equally
    /// well at 1,600 pixels in a fraction of the time.
    public static func workingSide(width: Int, height: Int) -> Int {
        let longer = max(width, height)
        return longer <= 2_400 || width * height <= 5_000_000 ? longer : min(longer, 1_600)
    }
}
