internal import CQREncode
internal import Glibc
internal import WatchwordSystem

// The modules reveal the text to anyone who sees them, and so do images of them. They are
// still kept in ordinary memory: a symbol is made to be shown, so it leaves the process
// anyway.
/// A QR symbol: text as a square of dark and light modules (ISO/IEC 18004).
///
/// A symbol of a secret is secret: show it on the owner's screen only, or write it to a file with
/// mode 0600.
public struct Symbol: Sendable {
    /// The width of the light margin that a reader needs, in modules (ISO/IEC 18004, section 9.1).
    public static let quietZone = 4

    /// The number of modules per side, without the quiet zone: 21 to 177.
    public let side: Int
    private let modules: [Bool]

    /// Creates the smallest symbol that holds `text`, which may be any bytes.
    ///
    /// - Throws: ``QRDrawingError/tooLong(limit:)`` beyond the level's capacity,
    ///   ``QRDrawingError/empty`` for empty text, ``QRDrawingError/libraryMissing(_:)`` or
    ///   ``QRDrawingError/encodingFailed(errno:)``.
    public init(encoding text: Span<UInt8>, correction: ErrorCorrection) throws(QRDrawingError) {
        guard !text.isEmpty else { throw .empty }
        guard text.count <= correction.capacity else {
            throw .tooLong(limit: correction.capacity)
        }
        guard let library = QREncodeLibrary.loaded else {
            throw .libraryMissing(QREncodeLibrary.name)
        }
        let level = correction == .low ? QR_ECLEVEL_L : QR_ECLEVEL_M
        errno = 0
        let made = unsafe text.withUnsafeBufferPointer { text in
            unsafe library.encodeData(Int32(text.count), text.baseAddress, 0, level)
        }
        guard let code = unsafe made else { throw .encodingFailed(errno: errno) }
        defer { unsafe library.free(code) }
        let side = unsafe Int(code.pointee.width)
        // One byte per module, whose lowest bit is the colour. The bytes are wiped before the
        // library frees them.
        let bytes = unsafe UnsafeMutableBufferPointer(start: code.pointee.data, count: side * side)
        self.side = side
        self.modules = unsafe bytes.map { $0 & 1 == 1 }
        unsafe bytes.update(repeating: 0)
    }

    /// Whether the module is dark; everything outside the symbol is light.
    public func isDark(column: Int, row: Int) -> Bool {
        guard (0..<side).contains(column), (0..<side).contains(row) else { return false }
        return modules[row * side + column]
    }
}

/// The share of a symbol that can be damaged without loss (ISO/IEC 18004, section 7.5.1).
public enum ErrorCorrection: Sendable, CaseIterable {
    /// Level L, about 7 %: the smallest symbol, for display on a screen.
    case low
    /// Level M, about 15 %: for images that are printed or photographed.
    case medium

    /// The maximum number of bytes in a symbol of version 40 at this level (ISO/IEC 18004, table
    /// 7).
    public var capacity: Int {
        switch self {
        case .low: 2953
        case .medium: 2331
        }
    }
}

/// Why a QR code could not be drawn, or an image not written.
public enum QRDrawingError: Error, Hashable, Sendable {
    /// The text is empty.
    case empty
    /// The text is longer than `limit`, the number of bytes that the largest symbol holds.
    case tooLong(limit: Int)
    /// The library with this name is not installed.
    case libraryMissing(String)
    /// libqrencode failed with this `errno`, for example because memory ran out.
    case encodingFailed(errno: Int32)
    /// libpng ran out of memory.
    case noMemoryForPicture
}

/// The libqrencode functions, loaded when the first symbol is drawn, because most programs draw
/// none.
@safe struct QREncodeLibrary {
    typealias EncodeData =
        @convention(c) (Int32, UnsafePointer<UInt8>?, Int32, QRecLevel) -> UnsafeMutablePointer<
            QRcode
        >?
    typealias Free = @convention(c) (UnsafeMutablePointer<QRcode>?) -> Void

    static let name = "libqrencode.so.4"

    /// `QRcode_encodeData`.
    let encodeData: EncodeData
    /// `QRcode_free`.
    let free: Free

    /// The library; `nil` if it is not installed.
    static let loaded = QREncodeLibrary()

    private init?() {
        guard let library = SharedLibrary(QREncodeLibrary.name),
            let encodeData = unsafe library.function("QRcode_encodeData", as: EncodeData.self),
            let free = unsafe library.function("QRcode_free", as: Free.self)
        else { return nil }
        unsafe self.encodeData = encodeData
        unsafe self.free = free
    }
}
