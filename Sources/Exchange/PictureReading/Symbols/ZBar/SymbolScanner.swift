import CZBar
internal import Pictures
import QRDrawing

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
    ///   every second one.
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
    /// Its corners in the picture, in order around it; fewer than four if zbar does not report
    /// them.
    let corners: [Point]
}
