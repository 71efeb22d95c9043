internal import CTIFF
internal import WatchwordSystem

/// The libtiff functions that convert a page to colours with alpha.
@safe struct TIFFLibrary: Sendable {
    typealias Open =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?,
            TIFFReadWriteProc?, TIFFReadWriteProc?, TIFFSeekProc?, TIFFCloseProc?, TIFFSizeProc?,
            TIFFMapFileProc?, TIFFUnmapFileProc?
        ) -> OpaquePointer?
    typealias Close = @convention(c) (OpaquePointer?) -> Void
    typealias SetDirectory = @convention(c) (OpaquePointer?, UInt32) -> Int32
    typealias Page = UnsafeMutablePointer<TIFFRGBAImage>
    typealias Begin =
        @convention(c) (Page?, OpaquePointer?, Int32, UnsafeMutablePointer<CChar>?) -> Int32
    typealias Get = @convention(c) (Page?, UnsafeMutablePointer<UInt32>?, UInt32, UInt32) -> Int32
    typealias End = @convention(c) (Page?) -> Void
    typealias SetHandler = @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer?

    /// `TIFFClientOpen`.
    let open: Open
    /// `TIFFClose`.
    let close: Close
    /// `TIFFSetDirectory`: moves to a page.
    let setDirectory: SetDirectory
    /// `TIFFRGBAImageBegin`.
    let begin: Begin
    /// `TIFFRGBAImageGet`.
    let get: Get
    /// `TIFFRGBAImageEnd`.
    let end: End

    init?() {
        guard let library = SharedLibrary("libtiff.so.6"),
            let open = unsafe library.function("TIFFClientOpen", as: Open.self),
            let close = unsafe library.function("TIFFClose", as: Close.self),
            let setDirectory = unsafe library.function("TIFFSetDirectory", as: SetDirectory.self),
            let begin = unsafe library.function("TIFFRGBAImageBegin", as: Begin.self),
            let get = unsafe library.function("TIFFRGBAImageGet", as: Get.self),
            let end = unsafe library.function("TIFFRGBAImageEnd", as: End.self)
        else { return nil }
        // Messages about a file could contain parts of it.
        for name in ["TIFFSetErrorHandler", "TIFFSetWarningHandler"] {
            guard let setHandler = unsafe library.function(name, as: SetHandler.self) else {
                return nil
            }
            _ = unsafe setHandler(nil)
        }
        unsafe self.open = open
        unsafe self.close = close
        unsafe self.setDirectory = setDirectory
        unsafe self.begin = begin
        unsafe self.get = get
        unsafe self.end = end
    }
}
