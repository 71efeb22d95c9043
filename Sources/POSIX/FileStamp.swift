internal import Glibc

/// What tells whether a file is still the one that it was: its number, its size and its last change.
public struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let changedAt: (seconds: Int, nanoseconds: Int)

    /// Looks at the file at `path`; nothing when there is none, or none that can be looked at.
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

    /// Whether both are of the same file in the same state.
    public static func == (left: FileStamp, right: FileStamp) -> Bool {
        left.device == right.device && left.number == right.number && left.size == right.size
            && left.changedAt == right.changedAt
    }

    /// Feeds what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(number)
        hasher.combine(size)
        hasher.combine(changedAt.seconds)
        hasher.combine(changedAt.nanoseconds)
    }
}
