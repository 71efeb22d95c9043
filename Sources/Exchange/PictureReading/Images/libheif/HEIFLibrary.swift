internal import CHEIF
internal import WatchwordSystem

/// The libheif functions that decode the pictures of a file.
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
