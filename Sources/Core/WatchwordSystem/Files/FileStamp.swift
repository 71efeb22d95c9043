internal import Glibc

/// Identifies a file and its state: its inode number, its size and its last change.
public struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64
    /// The size of the file in bytes.
    public let size: Int64
    private let changedAt: (seconds: Int, nanoseconds: Int)

    /// Reads the stamp of the file at `path`; `nil` if it does not exist or cannot be accessed.
    public init?(of path: String) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    init(_ facts: stat) {
        device = UInt64(facts.st_dev)
        number = UInt64(facts.st_ino)
        size = Int64(facts.st_size)
        changedAt = (facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec)
    }

    /// Whether both stamps describe the same file in the same state.
    public static func == (left: FileStamp, right: FileStamp) -> Bool {
        left.device == right.device && left.number == right.number && left.size == right.size
            && left.changedAt == right.changedAt
    }

    /// Hashes the fields that are compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(number)
        hasher.combine(size)
        hasher.combine(changedAt.seconds)
        hasher.combine(changedAt.nanoseconds)
    }
}
