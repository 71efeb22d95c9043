/// What a file begins with: some bytes are given, others may be any.
public struct FileBeginning: Sendable {
    private let pattern: [UInt8?]

    /// These bytes.
    public init(_ bytes: [UInt8]) { pattern = bytes }

    private init(pattern: [UInt8?]) { self.pattern = pattern }

    /// The same, and then `count` bytes of any value.
    public func followedByAny(_ count: Int) -> FileBeginning {
        FileBeginning(pattern: pattern + [UInt8?](repeating: nil, count: count))
    }

    /// The same, and then these bytes.
    public func followed(by bytes: [UInt8]) -> FileBeginning {
        FileBeginning(pattern: pattern + bytes)
    }

    var count: Int { pattern.count }

    /// Whether a file that starts with `bytes`, and may be cut off, begins like this.
    func isBegun(by bytes: [UInt8]) -> Bool {
        bytes.count <= count
            && zip(bytes, pattern).allSatisfy { byte, expected in (expected ?? byte) == byte }
    }
}
