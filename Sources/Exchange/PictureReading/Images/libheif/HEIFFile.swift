import CHEIF
internal import Pictures
import QRDrawing
internal import WatchwordSystem

/// A HEIC or AVIF file with one or more images.
struct HEIFFile {
    let width: Int
    let height: Int
    private let format: ImageFormat
    private let pictures: [heif_item_id]
    private let bytes: [UInt8]
    private let limits: ImageLimits
    private let library: HEIFLibrary

    var frameCount: Int { pictures.count }

    init(
        _ bytes: [UInt8], format: ImageFormat, limits: ImageLimits, library: HEIFLibrary
    ) throws(ImageFileError) {
        self.bytes = bytes
        self.format = format
        self.limits = limits
        self.library = library
        typealias Found = (pictures: [heif_item_id], width: Int, height: Int)
        let found = try Self.open(bytes, format, library) {
            decoder throws(ImageFileError) -> Found in
            let pictures = decoder.pictures()
            try limits.check(frameCount: pictures.count)
            guard let first = pictures.first else { throw .damaged(format) }
            for picture in pictures {
                let size = try decoder.size(of: picture)
                try limits.check(width: size.width, height: size.height, of: format)
            }
            let size = try decoder.size(of: first)
            return (pictures, size.width, size.height)
        }
        pictures = found.pictures
        width = found.width
        height = found.height
    }

    /// Decodes the image with this index.
    func samples(_ index: Int) throws(ImageFileError) -> Samples {
        try Self.open(bytes, format, library) { decoder throws(ImageFileError) in
            try decoder.decode(pictures[index], limits: limits)
        }
    }

    private static func open<Value>(
        _ bytes: [UInt8], _ format: ImageFormat, _ library: HEIFLibrary,
        _ body: (borrowing HEIFDecoder) throws(ImageFileError) -> Value
    ) throws(ImageFileError) -> Value {
        try unsafe bytes.span.withUnsafeBytes { raw throws(ImageFileError) in
            try body(try unsafe HEIFDecoder(reading: raw, format: format, library: library))
        }
    }
}

/// An open HEIC or AVIF file in memory.
@safe struct HEIFDecoder: ~Copyable {
    private let library: HEIFLibrary
    private let format: ImageFormat
    private let context: OpaquePointer

    /// - Parameter bytes: must stay valid as long as the decoder exists.
    init(
        reading bytes: UnsafeRawBufferPointer, format: ImageFormat, library: HEIFLibrary
    ) throws(ImageFileError) {
        guard let created = unsafe library.allocate() else { throw .outOfMemory }
        // Decode the tiles of an image one after the other, in this thread.
        unsafe library.limitThreads(created, 0)
        do throws(ImageFileError) {
            try unsafe Self.check(
                library.read(created, bytes.baseAddress, bytes.count, nil), format)
        } catch {
            unsafe library.free(created)
            throw error
        }
        unsafe context = created
        self.library = library
        self.format = format
    }

    deinit { unsafe library.free(context) }

    /// The identifiers of the file's images, without thumbnails.
    func pictures() -> [heif_item_id] {
        let count = unsafe max(library.pictureCount(context), 0)
        var list = [heif_item_id](repeating: 0, count: Int(count))
        let found = unsafe library.listPictures(context, &list, count)
        return Array(list.prefix(Int(max(found, 0))))
    }

    /// The size of an image, from its header.
    func size(of picture: heif_item_id) throws(ImageFileError) -> (width: Int, height: Int) {
        try unsafe with(picture) { handle in
            unsafe (Int(library.width(handle)), Int(library.height(handle)))
        }
    }

    func decode(_ picture: heif_item_id, limits: ImageLimits) throws(ImageFileError) -> Samples {
        try unsafe with(picture) { handle throws(ImageFileError) in
            let hasAlpha = unsafe library.hasAlpha(handle) != 0
            var image: OpaquePointer?
            let chroma = hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB
            try unsafe Self.check(
                library.decode(handle, &image, heif_colorspace_RGB, chroma, nil), format)
            defer { unsafe library.releaseImage(image) }
            let channel = heif_channel_interleaved
            let width = unsafe Int(library.decodedWidth(image, channel))
            let height = unsafe Int(library.decodedHeight(image, channel))
            // The header can be wrong about the size.
            try limits.check(width: width, height: height, of: format)
            var stride: Int32 = 0
            let channels = hasAlpha ? 4 : 3
            guard let plane = unsafe library.plane(image, channel, &stride),
                Int(stride) >= width * channels
            else { throw .damaged(format) }
            return unsafe Samples(
                width: width, height: height, channels: channels, rows: plane,
                stride: Int(stride))
        }
    }

    private func with<Result>(
        _ picture: heif_item_id,
        _ body: (OpaquePointer) throws(ImageFileError) -> Result
    ) throws(ImageFileError) -> Result {
        var handle: OpaquePointer?
        try unsafe Self.check(library.picture(context, picture, &handle), format)
        guard let handle = unsafe handle else { throw .damaged(format) }
        defer { unsafe library.releasePicture(handle) }
        return try unsafe body(handle)
    }

    private static func check(
        _ result: heif_error, _ format: ImageFormat
    ) throws(ImageFileError) {
        switch unsafe result.code {
        case heif_error_Ok: return
        // The library has its own limits, which are higher than ours.
        case heif_error_Memory_allocation_error
        where unsafe result.subcode == heif_suberror_Security_limit_exceeded:
            throw .tooLarge(.pixels, found: .max, allowed: ImageLimits.standard.pixels)
        case heif_error_Memory_allocation_error: throw .outOfMemory
        default: throw .damaged(format)
        }
    }
}

/// The libheif functions that decode the images of a file.
@safe struct HEIFLibrary: Sendable {
    typealias Initialise = @convention(c) (OpaquePointer?) -> heif_error
    typealias Allocate = @convention(c) () -> OpaquePointer?
    typealias Release = @convention(c) (OpaquePointer?) -> Void
    typealias SetNumber = @convention(c) (OpaquePointer?, Int32) -> Void
    typealias Read =
        @convention(c) (OpaquePointer?, UnsafeRawPointer?, Int, OpaquePointer?) -> heif_error
    typealias Number = @convention(c) (OpaquePointer?) -> Int32
    typealias List =
        @convention(c) (OpaquePointer?, UnsafeMutablePointer<heif_item_id>?, Int32) -> Int32
    typealias GetHandle =
        @convention(c) (OpaquePointer?, heif_item_id, UnsafeMutablePointer<OpaquePointer?>?) ->
        heif_error
    typealias Decode =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, heif_colorspace, heif_chroma,
            OpaquePointer?
        ) -> heif_error
    typealias Side = @convention(c) (OpaquePointer?, heif_channel) -> Int32
    typealias Plane =
        @convention(c) (OpaquePointer?, heif_channel, UnsafeMutablePointer<Int32>?) ->
        UnsafePointer<UInt8>?

    /// `heif_context_alloc`.
    let allocate: Allocate
    /// `heif_context_free`.
    let free: Release
    /// `heif_context_set_max_decoding_threads`.
    let limitThreads: SetNumber
    /// `heif_context_read_from_memory_without_copy`.
    let read: Read
    /// `heif_context_get_number_of_top_level_images`.
    let pictureCount: Number
    /// `heif_context_get_list_of_top_level_image_IDs`.
    let listPictures: List
    /// `heif_context_get_image_handle`.
    let picture: GetHandle
    /// `heif_image_handle_release`.
    let releasePicture: Release
    /// `heif_image_handle_get_width`.
    let width: Number
    /// `heif_image_handle_get_height`.
    let height: Number
    /// `heif_image_handle_has_alpha_channel`.
    let hasAlpha: Number
    /// `heif_decode_image`.
    let decode: Decode
    /// `heif_image_release`.
    let releaseImage: Release
    /// `heif_image_get_width`.
    let decodedWidth: Side
    /// `heif_image_get_height`.
    let decodedHeight: Side
    /// `heif_image_get_plane_readonly`.
    let plane: Plane

    init?() {
        guard let library = SharedLibrary("libheif.so.1"),
            let allocate = unsafe library.function("heif_context_alloc", as: Allocate.self),
            let free = unsafe library.function("heif_context_free", as: Release.self),
            let limitThreads = unsafe library.function(
                "heif_context_set_max_decoding_threads", as: SetNumber.self),
            let read = unsafe library.function(
                "heif_context_read_from_memory_without_copy", as: Read.self),
            let pictureCount = unsafe library.function(
                "heif_context_get_number_of_top_level_images", as: Number.self),
            let listPictures = unsafe library.function(
                "heif_context_get_list_of_top_level_image_IDs", as: List.self),
            let picture = unsafe library.function(
                "heif_context_get_image_handle", as: GetHandle.self),
            let releasePicture = unsafe library.function(
                "heif_image_handle_release", as: Release.self),
            let width = unsafe library.function("heif_image_handle_get_width", as: Number.self),
            let height = unsafe library.function("heif_image_handle_get_height", as: Number.self),
            let hasAlpha = unsafe library.function(
                "heif_image_handle_has_alpha_channel", as: Number.self),
            let decode = unsafe library.function("heif_decode_image", as: Decode.self),
            let releaseImage = unsafe library.function("heif_image_release", as: Release.self),
            let decodedWidth = unsafe library.function("heif_image_get_width", as: Side.self),
            let decodedHeight = unsafe library.function("heif_image_get_height", as: Side.self),
            let plane = unsafe library.function("heif_image_get_plane_readonly", as: Plane.self),
            let initialise = unsafe library.function("heif_init", as: Initialise.self)
        else { return nil }
        // This call makes newer versions load their decoders from a folder of plugins; older
        // versions link them.
        guard unsafe initialise(nil).code == heif_error_Ok else { return nil }
        unsafe self.allocate = allocate
        unsafe self.free = free
        unsafe self.limitThreads = limitThreads
        unsafe self.read = read
        unsafe self.pictureCount = pictureCount
        unsafe self.listPictures = listPictures
        unsafe self.picture = picture
        unsafe self.releasePicture = releasePicture
        unsafe self.width = width
        unsafe self.height = height
        unsafe self.hasAlpha = hasAlpha
        unsafe self.decode = decode
        unsafe self.releaseImage = releaseImage
        unsafe self.decodedWidth = decodedWidth
        unsafe self.decodedHeight = decodedHeight
        unsafe self.plane = plane
    }
}
