internal import Glibc

/// Identifies a folder, whatever its path: two paths lead to the same folder if these are equal.
public struct FolderIdentity: Hashable, Sendable {
    /// The number of the file system.
    public let device: UInt64
    /// The folder's number in it.
    public let number: UInt64

    /// Combines the two numbers.
    public init(device: UInt64, number: UInt64) {
        self.device = device
        self.number = number
    }

    /// Identifies the folder at `path`.
    public init(at path: String) throws(SystemCallFailure) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else {
            throw SystemCallFailure(call: "stat", number: errno)
        }
        self.init(device: UInt64(facts.st_dev), number: UInt64(facts.st_ino))
    }
}
