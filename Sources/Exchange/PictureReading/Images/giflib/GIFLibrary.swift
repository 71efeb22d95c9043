internal import CGIF
internal import WatchwordSystem

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
