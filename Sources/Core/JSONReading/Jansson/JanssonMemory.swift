internal import CJansson
internal import WatchwordSystem

/// The memory that jansson uses; it is wiped before it is freed, because texts may be secret.
enum JanssonMemory {
    // A `static let` is initialised once, before the first document is parsed.
    private static let isReady: Bool = {
        unsafe json_set_alloc_funcs(WipingAllocator.allocate, WipingAllocator.release)
        // Otherwise the first object reads a random number from a file.
        json_object_seed(0)
        return true
    }()

    /// Registers the functions with the library if this has not been done yet.
    static func prepare() { _ = isReady }
}

/// Loads what jansson would otherwise load when it reads its first text.
///
/// A process calls this before it is confined.
public func prepareJSONReading() { JanssonMemory.prepare() }
