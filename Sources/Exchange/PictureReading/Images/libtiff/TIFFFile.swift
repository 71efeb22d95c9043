internal import CTIFF
import Glibc
internal import Pictures
import QRDrawing
internal import WatchwordSystem

/// A TIFF file with one or more pages.
struct TIFFFile {
    let width: Int
    let height: Int
    /// The pages that can be decoded.
    private let pages: [(number: Int, width: Int, height: Int)]
    private let bytes: [UInt8]
    private let library: TIFFLibrary

    var frameCount: Int { pages.count }

    init(
        _ bytes: [UInt8], limits: ImageLimits, library: TIFFLibrary
    ) throws(ImageFileError) {
        let decoder = try TIFFDecoder(bytes, library: library)
        var pages: [(number: Int, width: Int, height: Int)] = []
        var number = 0
        while decoder.move(to: number) {
            try limits.check(frameCount: number + 1)
            if let (width, height) = decoder.size() {
                try limits.check(width: width, height: height, of: .tiff)
                pages.append((number, width, height))
            }
            number += 1
        }
        guard let first = pages.first else { throw .damaged(.tiff) }
        width = first.width
        height = first.height
        self.pages = pages
        self.bytes = bytes
        self.library = library
    }

    /// Decodes the page with this index.
    func samples(_ index: Int) throws(ImageFileError) -> Samples {
        let (number, width, height) = pages[index]
        let decoder = try TIFFDecoder(bytes, library: library)
        var pixels = [UInt8](repeating: 255, count: width * height * 4)
        guard decoder.move(to: number),
            let isWhole = decoder.decode(into: &pixels, width: width, height: height)
        else { throw .damaged(.tiff) }
        return Samples(
            width: width, height: height, premultiplied: pixels, order: .redFirst, isWhole: isWhole)
    }
}

/// An open TIFF file in memory.
@safe struct TIFFDecoder: ~Copyable {
    private let library: TIFFLibrary
    private let source: MemoryFile
    private let file: OpaquePointer

    init(_ bytes: [UInt8], library: TIFFLibrary) throws(ImageFileError) {
        self.library = library
        source = MemoryFile(bytes)
        // m: do not map the file into memory.
        let opened = unsafe library.open(
            "picture", "rm", source.handle,
            { handle, target, count in
                unsafe tmsize_t(MemoryFile.with(handle)?.read(into: target, count: Int(count)) ?? 0)
            },
            { _, _, _ in -1 },
            { handle, offset, origin in
                guard let file = unsafe MemoryFile.with(handle) else { return .max }
                let start = [SEEK_SET: 0, SEEK_CUR: file.offset, SEEK_END: file.count]
                guard let start = start[origin] else { return .max }
                let (target, overflow) = start.addingReportingOverflow(
                    Int(truncatingIfNeeded: offset))
                guard !overflow, let position = file.seek(to: target) else { return .max }
                return UInt64(position)
            },
            { _ in 0 },
            { handle in UInt64(unsafe MemoryFile.with(handle)?.count ?? 0) },
            { _, _, _ in 0 }, { _, _, _ in })
        guard let opened = unsafe opened else { throw .damaged(.tiff) }
        unsafe file = opened
    }

    deinit { unsafe library.close(file) }

    /// Moves to a page; returns false if there is no such page.
    func move(to page: Int) -> Bool {
        unsafe library.setDirectory(file, UInt32(page)) != 0
    }

    /// The size of the current page; `nil` if it is damaged or its kind of compression is unknown.
    func size() -> (width: Int, height: Int)? {
        unsafe withPage { page in unsafe (Int(page.pointee.width), Int(page.pointee.height)) }
    }

    /// Decodes the current page as red, green, blue and alpha, premultiplied.
    ///
    /// - Parameter pixels: must have room for the page; rows after the damage keep their content.
    /// - Returns: whether the page is complete; `nil` if it cannot be decoded.
    func decode(into pixels: inout [UInt8], width: Int, height: Int) -> Bool? {
        precondition(pixels.count == width * height * 4, "the pixels have room for the page")
        return unsafe pixels.withUnsafeMutableBytes { target in
            // A pixel is a number whose lowest byte is red; Swift's Linux platforms store it first.
            let pixels = unsafe target.bindMemory(to: UInt32.self)
            let isWhole = unsafe withPage { page in
                unsafe page.pointee.req_orientation = UInt16(ORIENTATION_TOPLEFT)
                return unsafe library.get(page, pixels.baseAddress, UInt32(width), UInt32(height))
                    != 0
            }
            return isWhole
        }
    }

    private func withPage<Result>(_ body: (TIFFLibrary.Page) -> Result) -> Result? {
        var page = unsafe TIFFRGBAImage()
        var message = [CChar](repeating: 0, count: 1024)
        let stopsAtDamage: Int32 = 1
        guard unsafe library.begin(&page, file, stopsAtDamage, &message) != 0 else { return nil }
        defer { unsafe library.end(&page) }
        return unsafe body(&page)
    }
}

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
