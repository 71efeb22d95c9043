internal import CQREncode
internal import Glibc

// The modules give the text away to whoever sees them, as do the pictures made of them. They are
// plain memory all the same: a symbol is made to be shown, and what is shown leaves the process anyhow.
/// A QR symbol: a text as a square of dark and light modules (ISO/IEC 18004).
///
/// A symbol of a secret is a secret: it belongs on the owner's screen or in a file of mode 0600.
public struct Symbol: Sendable {
    /// The light frame that a reader needs around a symbol, in modules (ISO/IEC 18004, section 9.1).
    public static let quietZone = 4

    /// Modules on a side, without the quiet zone: 21 to 177.
    public let side: Int
    private let modules: [Bool]

    /// Makes the smallest symbol that holds `text` as bytes, whatever they are.
    ///
    /// - Throws: ``SymbolDrawingError/tooLong(limit:)`` beyond the level's capacity,
    ///   ``SymbolDrawingError/empty`` for no bytes at all, ``SymbolDrawingError/libraryMissing(_:)`` and
    ///   ``SymbolDrawingError/libraryFailed(errno:)``.
    public init(encoding text: Span<UInt8>, correction: ErrorCorrection) throws(SymbolDrawingError)
    {
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
        guard let code = unsafe made else { throw .libraryFailed(errno: errno) }
        defer { unsafe library.free(code) }
        let side = unsafe Int(code.pointee.width)
        // A byte a module; the lowest bit is its colour. Wiped before the library frees it.
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
