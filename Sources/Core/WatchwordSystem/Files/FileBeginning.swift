/// The beginning of a file format: fixed bytes, and positions that can have any value.
public struct FileBeginning: Sendable {
    private let pattern: [UInt8?]

    /// A beginning of fixed bytes.
    public init(_ bytes: [UInt8]) { pattern = bytes }

    private init(pattern: [UInt8?]) { self.pattern = pattern }

    /// This beginning followed by `count` bytes of any value.
    public func followedByAny(_ count: Int) -> FileBeginning {
        FileBeginning(pattern: pattern + [UInt8?](repeating: nil, count: count))
    }

    /// This beginning followed by fixed bytes.
    public func followed(by bytes: [UInt8]) -> FileBeginning {
        FileBeginning(pattern: pattern + bytes)
    }

    var count: Int { pattern.count }

    /// Whether a file that starts with `bytes`, and may be truncated, matches this beginning.
    func isBegun(by bytes: [UInt8]) -> Bool {
        bytes.count <= count
            && zip(bytes, pattern).allSatisfy { byte, expected in (expected ?? byte) == byte }
    }
}
