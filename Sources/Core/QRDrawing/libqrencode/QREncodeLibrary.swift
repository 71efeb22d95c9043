internal import CQREncode
internal import WatchwordSystem

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
