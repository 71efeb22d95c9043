import CTIFF
import Glibc
internal import Pictures

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
