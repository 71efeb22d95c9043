internal import Glibc

/// A new folder that only this user can open; it is removed with its files when the last reference
/// is released.
///
/// Interrupting signals take effect after that, so they leave none of its files behind.
@safe public final class PrivateTemporaryFolder {
    /// The folder's path.
    public let path: String
    private let signals: SignalQueue

    /// Creates a folder in the user's runtime folder, which is in memory, or else in the folder for
    /// temporary files.
    public init() throws(SystemCallFailure) {
        signals = try SignalQueue(SignalQueue.interruptions)
        let parent =
            Environment.value("XDG_RUNTIME_DIR") ?? Environment.value("TMPDIR") ?? "/tmp"
        let replaced = String(repeating: "X", count: 6)
        var name = Array("\(parent)/watchword-\(replaced)".utf8CString)
        guard unsafe mkdtemp(&name) != nil else {
            throw SystemCallFailure(call: "mkdtemp", number: errno)
        }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // A file that cannot be removed stays in a folder that no other user can open.
        do {
            for name in try Folder.names(at: path) { Folder.removeFile(at: "\(path)/\(name)") }
        } catch {}
        unsafe rmdir(path)
    }
}
